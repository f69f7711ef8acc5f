// Time in the kernel: system calls that return immediately, and one that sleeps.
#define _GNU_SOURCE
#include "sample.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

FUNCTION void before(void) {
  WORK();
}
FUNCTION void after(void) {
  WORK();
}

FUNCTION int asks(void) {
  before();
  int sum = (int)(syscall(SYS_getppid) + syscall(SYS_getppid) + syscall(SYS_getppid));
  after();
  WORK();
  return sum;
}
FUNCTION void naps(void) {
  struct timespec time = {0, 3000000};
  before();
  nanosleep(&time, 0);
  after();
  WORK();
}

int main(void) {
  int sum = 0;
  for (int i = 0; i < 4; ++i) {
    sum += asks();
  }
  naps();
  return sum == 0;
}
