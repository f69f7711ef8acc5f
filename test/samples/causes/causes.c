// A function, `work`, whose slow calls have a cause that the argument chooses. `causes CAUSE CALLS EVERY SCALE FILE
// TRUTH` calls it CALLS times. One call in EVERY is slow: it does SCALE times as much as the others, in a function that belongs to the
// cause. The program writes the numbers of the slow calls, counted from 0, to TRUTH as JSON: one list for each kind of
// slow call.
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone))

enum cause { lock, more_calls, branch, page_fault, sync_file, preemption, allocation, two, none, cold_start };
static const char* const names[] = {"lock", "count", "branch", "fault", "fsync", "preempted", "mmap", "two", "none", "cold"};
enum { causes = sizeof names / sizeof *names, loops = 200, page = 4096, parts = 20 };

static int calls;
static int every;
static int scale;
static size_t pages; // of the file

static volatile unsigned long sum;
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static atomic_int wanted;
static atomic_int held;
static atomic_int done;
static int file = -1;
static char* mapped;
static char* dirty; // as much as the file

OWN void spin(int times) {
  for (int i = 0; i < times; ++i) sum += (unsigned long)i;
}

OWN void lookup(void) { spin(loops / 10); }

// Each part takes a time of its own, at random, so that no part makes a call slow.
static unsigned random_state = 1;
static int some_loops(void) {
  random_state = random_state * 1664525u + 1013904223u;
  return (int)(random_state >> 16) % (loops * scale / parts);
}
#define PART(number) OWN void part##number(void) { for (int i = some_loops(); i > 0; --i) sum += (unsigned long)i; }
PART(0) PART(1) PART(2) PART(3) PART(4) PART(5) PART(6) PART(7) PART(8) PART(9)
PART(10) PART(11) PART(12) PART(13) PART(14) PART(15) PART(16) PART(17) PART(18) PART(19)
static void (*const all_parts[parts])(void) = {part0, part1, part2, part3, part4, part5, part6, part7, part8, part9,
                                               part10, part11, part12, part13, part14, part15, part16, part17, part18, part19};

// Holds the lock for 3 ms each time that it is asked to.
OWN void hold_table(void) {
  const struct timespec time = {0, 3000000};
  pthread_mutex_lock(&table);
  atomic_store(&held, 1);
  nanosleep(&time, NULL);
  pthread_mutex_unlock(&table);
}

static void* holder(void* unused) {
  while (!atomic_load(&done)) {
    if (atomic_exchange(&wanted, 0)) hold_table();
    const struct timespec time = {0, 50000};
    nanosleep(&time, NULL);
  }
  return unused;
}

OWN void lock_table(void) {
  pthread_mutex_lock(&table);
  sum += 1;
  pthread_mutex_unlock(&table);
}

OWN void write_log(void) {
  char text[page];
  memset(text, 'x', sizeof text);
  if (pwrite(file, text, sizeof text, 0) != (ssize_t)sizeof text) abort();
  fsync(file);
}

OWN void read_pages(void) {
  for (size_t i = 0; i < pages; ++i) sum += (unsigned long)mapped[i * page];
}

OWN void make_buffer(void) {
  const size_t block = pages * page;
  char* buffer = malloc(block);
  for (size_t i = 0; i < block; i += page) buffer[i] = 1;
  sum += (unsigned long)buffer[page];
  free(buffer);
}

OWN void pay_parts(int slow) {
  if (slow) {
    for (int i = 0; i < scale * loops; ++i) sum += (unsigned long)i;
  }
  sum += 1;
}

OWN void work(enum cause cause, int number, int slow) {
  spin(loops);
  switch (cause) {
  case lock: lock_table(); break;
  case more_calls:
    for (int i = 0; i < (slow ? 10 * scale : 10); ++i) lookup();
    break;
  case branch: pay_parts(slow); break;
  case page_fault: read_pages(); break;
  case sync_file:
    if (slow) write_log();
    break;
  case allocation:
    if (slow) make_buffer();
    break;
  case two:
    for (int i = 0; i < (slow == 1 ? 10 * scale : 10); ++i) lookup();
    if (slow == 2) write_log();
    break;
  case cold_start:
    spin(scale * loops / 2);
    for (int i = 0; i < 4; ++i) pay_parts(slow);
    break;
  case preemption: spin(scale * loops); break; // some calls lose the processor
  case none:
    for (int i = 0; i < parts; ++i) all_parts[i]();
    break;
  }
  sum += (unsigned long)number;
}

// What has to be so before a slow call. Before the file is synced, its pages are being written to the disk, so that the
// call waits however fast the disk is.
static void prepare(enum cause cause, int kind) {
  if (cause == lock) {
    atomic_store(&held, 0);
    atomic_store(&wanted, 1);
    while (!atomic_load(&held)) sched_yield();
  } else if (cause == page_fault) {
    madvise(mapped, pages * page, MADV_DONTNEED);
    posix_fadvise(file, 0, (off_t)(pages * page), POSIX_FADV_DONTNEED);
  } else if (cause == sync_file || (cause == two && kind == 2)) {
    if (pwrite(file, dirty, pages * page, 0) != (ssize_t)(pages * page)) abort();
    sync_file_range(file, 0, (off_t)(pages * page), SYNC_FILE_RANGE_WRITE);
  }
}

// Pins this process and a busy child of it to the first processor that it may use.
static pid_t share_processor(void) {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  int first = 0;
  while (!CPU_ISSET(first, &set)) ++first;
  CPU_ZERO(&set);
  CPU_SET(first, &set);
  sched_setaffinity(0, sizeof set, &set);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    for (;;) sum += 1;
  }
  return child;
}

// Returns 0 for a call that is not slow, else which kind of slow call it is.
static int slow_kind(enum cause cause, int number) {
  if (cause == none || cause == preemption) return 0;
  if (cause == cold_start) return number < calls / every;
  if (number % every == every / 2) return 1;
  return cause == two && number % (2 * every) == 0 ? 2 : 0;
}

static int write_slow(enum cause cause, const char* name) {
  FILE* truth = fopen(name, "w");
  if (truth == NULL) return 1;
  fprintf(truth, "{\"slow\":[");
  for (int kind = 1; kind <= 2; ++kind) {
    fprintf(truth, kind == 1 ? "[" : ",[");
    const char* separator = "";
    for (int number = 0; number < calls; ++number) {
      if (slow_kind(cause, number) != kind) continue;
      fprintf(truth, "%s%d", separator, number);
      separator = ",";
    }
    fprintf(truth, "]");
  }
  fprintf(truth, "]}\n");
  return fclose(truth);
}

int main(int count, char** arguments) {
  if (count != 7) return 2;
  int named = 0;
  while (named < causes && strcmp(names[named], arguments[1]) != 0) ++named;
  if (named == causes) return 2;
  const enum cause cause = (enum cause)named;
  calls = atoi(arguments[2]);
  every = atoi(arguments[3]);
  scale = atoi(arguments[4]);
  if (calls < 1 || every < 2 || scale < 2) return 2;
  mallopt(M_MMAP_THRESHOLD, 128 << 10); // and it stays there, so that each large allocation is mapped anew
  pages = (size_t)scale * 4;
  file = open(arguments[5], O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, (off_t)(pages * page)) != 0) return 1;
  mapped = mmap(NULL, pages * page, PROT_READ, MAP_SHARED, file, 0);
  dirty = calloc(pages, page);
  if (mapped == MAP_FAILED || dirty == NULL) return 1;
  pthread_t thread;
  if (cause == lock && pthread_create(&thread, NULL, holder, NULL) != 0) return 1;
  const pid_t busy = cause == preemption ? share_processor() : 0;
  for (int number = 0; number < calls; ++number) {
    const int slow = slow_kind(cause, number);
    if (slow) prepare(cause, slow);
    work(cause, number, slow);
  }
  atomic_store(&done, 1);
  if (cause == lock) pthread_join(thread, NULL);
  if (busy > 0) {
    kill(busy, SIGKILL);
    waitpid(busy, NULL, 0);
  }
  return write_slow(cause, arguments[6]);
}
