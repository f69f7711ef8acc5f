// Waits that are made on purpose, each in a function of its own, ROUNDS times: waits FILE TRUTH. FILE is written to; TRUTH
// gets what the kernel's own
// accounts say of each function: wall time without CPU time (CLOCK_THREAD_CPUTIME_ID), and how often the thread gave up the
// CPU and how often it lost it (getrusage: ru_nvcsw, ru_nivcsw).
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 12, HELD_MS = 5, COUNTED_MS = 30, NAP_MS = 3, POLL_MS = 4, FEED_MS = 3, ORDERS = 200, SLOW_EVERY = 50 };

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t stock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t news = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;
static int items;
static int to_helper[2], to_main[2], fed[2];
static int file, silent[2];
static volatile long sink;

static long clock_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void pass_ms(long ms) {
  struct timespec time = {0, ms * 1000000L};
  nanosleep(&time, 0);
}

static void tell(int descriptor) {
  if (write(descriptor, "x", 1) != 1) exit(2);
}

static void hear(int descriptor) {
  char byte;
  if (read(descriptor, &byte, 1) != 1) exit(2);
}

__attribute__((noinline)) void restock_all(void) {
  pthread_mutex_lock(&table);
  tell(to_main[1]); // only now does the other thread try to lock
  pass_ms(HELD_MS);
  pthread_mutex_unlock(&table);
  sink++;
}

__attribute__((noinline)) void deliver(void) {
  pass_ms(FEED_MS);
  pthread_mutex_lock(&news);
  items++;
  pthread_cond_signal(&told);
  pthread_mutex_unlock(&news);
}

__attribute__((noinline)) void feed(void) {
  pass_ms(FEED_MS);
  tell(fed[1]);
  sink++;
}

__attribute__((noinline)) void count_stock(void) {
  pthread_mutex_lock(&stock);
  tell(to_main[1]);
  pass_ms(COUNTED_MS);
  pthread_mutex_unlock(&stock);
  sink++;
}

static void *rebalance(void *unused) {
  pthread_setname_np(pthread_self(), "rebalance");
  for (int round = 0; round < ROUNDS; round++) {
    hear(to_helper[0]);
    restock_all();
    hear(to_helper[0]);
    deliver();
    hear(to_helper[0]);
    feed();
  }
  for (int order = 0; order < ORDERS; order += SLOW_EVERY) {
    hear(to_helper[0]);
    count_stock();
  }
  return unused;
}

__attribute__((noinline)) void lock_table(void) {
  pthread_mutex_lock(&table);
  sink++;
  pthread_mutex_unlock(&table);
}

__attribute__((noinline)) void take_item(void) {
  pthread_mutex_lock(&news);
  while (items == 0) pthread_cond_wait(&told, &news);
  items--;
  pthread_mutex_unlock(&news);
}

__attribute__((noinline)) void nap(void) {
  pass_ms(NAP_MS);
  sink++;
}

__attribute__((noinline)) void save(void) {
  char block[4096] = {0};
  if (pwrite(file, block, sizeof block, (sink % 16) * 4096) != sizeof block) exit(2);
  fsync(file);
  sink++;
}

__attribute__((noinline)) void read_pipe(void) {
  hear(fed[0]);
  sink++;
}

__attribute__((noinline)) void await_events(void) {
  struct pollfd nothing = {silent[0], POLLIN, 0};
  poll(&nothing, 1, POLL_MS);
  sink++;
}

// One call in SLOW_EVERY finds the lock held, for longer than a loaded machine keeps a thread from its CPU.
__attribute__((noinline)) void serve(void) {
  pthread_mutex_lock(&stock);
  sink++;
  pthread_mutex_unlock(&stock);
}

// Shares its CPU with a process that never sleeps.
__attribute__((noinline)) void compute(void) {
  const long end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 20000000L;
  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end) sink++;
}

struct account {
  const char *name;
  void (*run)(void);
  long off_ns, gave_up, lost;
};

static struct account accounts[] = {{"lock_table", lock_table, 0, 0, 0}, {"take_item", take_item, 0, 0, 0},
                                    {"read_pipe", read_pipe, 0, 0, 0},   {"nap", nap, 0, 0, 0},
                                    {"save", save, 0, 0, 0},             {"await_events", await_events, 0, 0, 0},
                                    {"compute", compute, 0, 0, 0}};

__attribute__((noinline)) void measured(struct account *of) {
  struct rusage before, after;
  getrusage(RUSAGE_THREAD, &before);
  const long wall = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  of->run();
  of->off_ns += clock_ns(CLOCK_MONOTONIC) - wall - (clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
  getrusage(RUSAGE_THREAD, &after);
  of->gave_up += after.ru_nvcsw - before.ru_nvcsw;
  of->lost += after.ru_nivcsw - before.ru_nivcsw;
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  file = open(arguments[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || pipe(to_helper) || pipe(to_main) || pipe(fed) || pipe(silent)) return 2;
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  const pid_t busy = fork();
  if (busy == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sched_setaffinity(0, sizeof first, &first);
    for (;;) sink++;
  }
  pthread_t helper;
  pthread_create(&helper, 0, rebalance, 0);
  const size_t kinds = sizeof accounts / sizeof *accounts;
  for (int round = 0; round < ROUNDS; round++) {
    for (size_t kind = 0; kind < kinds - 1; kind++) {
      if (kind < 3) tell(to_helper[1]);
      if (kind == 0) hear(to_main[0]);
      measured(&accounts[kind]);
    }
  }
  for (int order = 0; order < ORDERS; order++) {
    if (order % SLOW_EVERY == 0) {
      tell(to_helper[1]);
      hear(to_main[0]);
    }
    serve();
  }
  pthread_join(helper, 0);
  sched_setaffinity(0, sizeof first, &first);
  measured(&accounts[kinds - 1]);
  kill(busy, 9);
  FILE *truth = fopen(arguments[2], "w");
  if (!truth) return 2;
  fprintf(truth, "{\"rounds\":%d,\"tid\":%d", ROUNDS, (int)syscall(SYS_gettid));
  for (size_t kind = 0; kind < kinds; kind++)
    fprintf(truth, ",\"%s\":{\"off_ns\":%ld,\"gave_up\":%ld,\"lost\":%ld}", accounts[kind].name, accounts[kind].off_ns, accounts[kind].gave_up,
           accounts[kind].lost);
  fprintf(truth, "}\n");
  fclose(truth);
}
