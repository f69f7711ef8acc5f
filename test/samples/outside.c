// Waits that other processes end, each in a function of its own. Prints the numbers of this process and of "deliverer", then waits in
// turn until its input closes. The others run from the start, so that a recording of this process does not contain them.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PASS_US = 1500, LETTERS = 150 };

static int piped[2], letters[2], late[2], local[2], remote[2], turn[2], asked[2];
static atomic_int *word;
static volatile long sink;

static void pass(void) {
  struct timespec time = {0, PASS_US * 1000L};
  nanosleep(&time, 0);
}

static void tell(int descriptor) {
  if (write(descriptor, "x", 1) != 1) exit(2);
}

static void hear(int descriptor) {
  char byte;
  if (read(descriptor, &byte, 1) != 1) exit(2);
}

__attribute__((noinline)) void read_pipe(void) {
  hear(piped[0]);
  sink++;
}

__attribute__((noinline)) void read_local_socket(void) {
  hear(local[0]);
  sink++;
}

__attribute__((noinline)) void read_remote_socket(void) {
  hear(remote[0]);
  sink++;
}

__attribute__((noinline)) void await_word(int seen) {
  while (atomic_load(word) == seen) syscall(SYS_futex, word, FUTEX_WAIT, seen, 0, 0, 0);
  sink++;
}

__attribute__((noinline)) void read_letter(void) {
  hear(letters[0]);
  sink++;
}

__attribute__((noinline)) void read_late(void) {
  hear(late[0]);
  sink++;
}

__attribute__((noinline)) void nap(void) {
  pass();
  sink++;
}

// Runs in its own process. Each delivery comes some time after it was asked for, so that the parent waits.
static void deliver(void) {
  prctl(PR_SET_NAME, "deliverer");
  for (;;) {
    hear(turn[0]);
    pass();
    tell(piped[1]);
    pass();
    tell(local[1]);
    pass();
    tell(remote[1]);
    pass();
    atomic_fetch_add(word, 1);
    syscall(SYS_futex, word, FUTEX_WAKE, 1, 0, 0, 0);
  }
}

// A process for each letter, gone at once.
static void post(void) {
  prctl(PR_SET_NAME, "postman");
  for (;;) {
    hear(asked[0]);
    if (fork() == 0) {
      prctl(PR_SET_NAME, "courier");
      pass();
      tell(letters[1]);
      _exit(0);
    }
    wait(0);
  }
}

static void feed_late(void) {
  prctl(PR_SET_NAME, "late feeder");
  for (;;) {
    pass();
    tell(late[1]);
  }
}

// A thread that begins after the recording did.
static void *read_all_late(void *unused) {
  for (int read = 0; read < LETTERS; read++) read_late();
  return unused;
}

static pid_t start(void (*run)(void)) {
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    run();
  }
  return pid;
}

static void connect_over_tcp(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) || getsockname(listener, (struct sockaddr *)&address, &size)) exit(2);
  remote[1] = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(remote[1], (struct sockaddr *)&address, size)) exit(2);
  remote[0] = accept(listener, 0, 0);
}

static int input_is_open(void) {
  struct pollfd input = {.fd = 0, .events = POLLIN};
  return poll(&input, 1, 0) == 0;
}

int main(void) {
  word = mmap(0, sizeof *word, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (pipe(piped) || pipe(letters) || pipe(late) || pipe(turn) || pipe(asked) || socketpair(AF_UNIX, SOCK_STREAM, 0, local)) return 2;
  connect_over_tcp();
  const pid_t deliverer = start(deliver);
  start(post);
  start(feed_late);
  printf("%d %d\n", getpid(), deliverer);
  fflush(stdout);
  while (input_is_open()) {
    pthread_t reader;
    pthread_create(&reader, 0, read_all_late, 0);
    for (int round = 0; round < 20; round++) {
      const int seen = atomic_load(word);
      tell(turn[1]);
      read_pipe();
      read_local_socket();
      read_remote_socket();
      await_word(seen);
      tell(asked[1]);
      read_letter();
      nap();
    }
    pthread_join(reader, 0);
  }
  return 0;
}
