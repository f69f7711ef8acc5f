// Several processes of the same program at the same addresses, each with two threads that make
// different calls. Prints a line for each thread: its process, its id, and the number of its calls
// of item(), which calls part() twice. Sleeps and system calls in between let the threads change
// processors. With an argument, each thread waits for a byte of standard input before it begins.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, used))

static volatile int work;
static int process;
static int waits;

KEEP int part(int value) {
  for (int turn = 0; turn < 20; ++turn) {
    work = work + value;
  }
  return value + 1;
}

KEEP int item(int value) {
  const int sum = part(value) + part(value + 1);
  work = work + 1;
  return sum;
}

KEEP void nap(void) {
  const struct timespec time = {0, 20000};
  nanosleep(&time, NULL);
  work = work + 1;
}

static int items(long thread) {
  return 10 * (process + 1) + 3 * (int)thread;
}

KEEP void* worker(void* argument) {
  const long thread = (long)argument;
  char go = 0;
  if (waits && read(0, &go, 1) != 1) {
    return NULL;
  }
  for (int number = 0; number < items(thread); ++number) {
    work = work + item(number);
    if (number % 4 == 3) {
      nap();
    } else if (number % 4 == 1) {
      work = work + (int)getppid();
    }
  }
  printf("%d %ld %d\n", (int)getpid(), syscall(SYS_gettid), items(thread));
  return NULL;
}

KEEP void both(void) {
  pthread_t second;
  if (pthread_create(&second, NULL, worker, (void*)1) == 0) {
    worker((void*)0);
    pthread_join(second, NULL);
  }
  fflush(stdout);
}

int main(int count, char** arguments) {
  (void)arguments;
  waits = count > 1;
  for (process = 1; process < 3; ++process) {
    if (fork() == 0) {
      both();
      _exit(0);
    }
  }
  process = 0;
  both();
  while (wait(NULL) > 0) {
  }
  return 0;
}
