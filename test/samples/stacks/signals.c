// Signal handlers: during a system call, on a faulting instruction that is retried or skipped,
// nested, on their own stack, left by siglongjmp, and two at once.
#define _GNU_SOURCE
#include "sample.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static char* volatile page;
static sigjmp_buf back;

FUNCTION void helper(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    WORK();
  }
}

FUNCTION void plain_handler(int number) {
  (void)number;
  helper(300);
  WORK();
}
FUNCTION void outer_handler(int number) {
  (void)number;
  raise(SIGUSR1); // plain_handler runs inside this one
  helper(2);
  WORK();
}
FUNCTION void mending_handler(int number) {
  (void)number;
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
  WORK();
}
FUNCTION void skipping_handler(int number, siginfo_t* information, void* context) {
  (void)number;
  (void)information;
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] += 2; // skips ud2
  helper(2);
  WORK();
}
FUNCTION void leaving_handler(int number) {
  (void)number;
  helper(2);
  siglongjmp(back, 1);
}

FUNCTION void interrupted_by_call(void) {
  WORK();
  raise(SIGUSR1);
  WORK();
}
FUNCTION void interrupted_twice(void) {
  WORK();
  raise(SIGUSR2);
  WORK();
}
FUNCTION void touch(void) {
  WORK();
  page[10] = 1;
  WORK();
}
FUNCTION void undefined(void) {
  WORK();
  __asm__ volatile("ud2");
  WORK();
}
FUNCTION void left(void) {
  WORK();
  raise(SIGALRM);
  WORK();
}
FUNCTION void tries(void) {
  if (sigsetjmp(back, 1) == 0) {
    left();
  }
  WORK();
}
FUNCTION void both_at_once(void) {
  sigset_t signals;
  sigset_t before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigaddset(&signals, SIGWINCH);
  sigprocmask(SIG_BLOCK, &signals, &before);
  raise(SIGUSR1);
  raise(SIGWINCH);
  sigprocmask(SIG_SETMASK, &before, 0); // both are delivered here
  WORK();
}

FUNCTION void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action = {0};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(number, &action, 0);
}

int main(int count, char** arguments) {
  (void)arguments;
  page = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack_t own = {.ss_sp = malloc(65536), .ss_size = 65536};
  sigaltstack(&own, 0);
  handle(SIGUSR1, plain_handler, 0);
  handle(SIGUSR2, outer_handler, 0);
  handle(SIGSEGV, mending_handler, SA_ONSTACK);
  handle(SIGILL, (void (*)(int))skipping_handler, SA_SIGINFO);
  handle(SIGALRM, leaving_handler, 0);
  handle(SIGWINCH, plain_handler, 0);
  for (int i = 0; i < 2; ++i) {
    interrupted_by_call();
    interrupted_twice();
    undefined();
    tries();
  }
  touch();
  if (count > 1) {
    both_at_once();
  }
  return 0;
}
