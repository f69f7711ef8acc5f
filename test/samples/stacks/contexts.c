// Coroutines by swapcontext: two workers with different functions, resumed in turns (one of them
// calls functions on both sides of a switch); a generator that its own function resumes and that
// ends; and two instances of one function.
#include "sample.h"

#include <ucontext.h>

static ucontext_t main_context;
static ucontext_t contexts[5];
static _Alignas(16) char stacks[5][16384];

FUNCTION void inner(int value) {
  work_done = work_done + value;
}

FUNCTION void yield(int index) {
  swapcontext(&contexts[index], &main_context);
  WORK();
}
FUNCTION void resume(int index) {
  swapcontext(&main_context, &contexts[index]);
  WORK();
}

FUNCTION void pause_inside(int value) {
  inner(value);
  yield(0);
  inner(value + 1);
}
FUNCTION void left_worker(void) {
  for (int i = 0; i < 3; ++i) {
    pause_inside(i);
  }
  WORK();
}
FUNCTION void right_worker(void) {
  for (int i = 0; i < 3; ++i) {
    inner(i);
    yield(1);
  }
  WORK();
}

FUNCTION void generator(void) {
  inner(5);
  yield(2);
  WORK();
}
FUNCTION void twin(int index) {
  inner(index);
  yield(index);
  inner(index);
  WORK();
}

FUNCTION void prepare(int index, void (*function)(void)) {
  getcontext(&contexts[index]);
  contexts[index].uc_stack.ss_sp = stacks[index];
  contexts[index].uc_stack.ss_size = sizeof stacks[index];
  contexts[index].uc_link = &main_context;
  makecontext(&contexts[index], function, 1, index);
}

FUNCTION void workers(void) {
  prepare(0, left_worker);
  prepare(1, right_worker);
  for (int i = 0; i < 4; ++i) { // three pauses, then the end of each
    resume(0);
    resume(1);
  }
  WORK();
}
FUNCTION void generate(void) {
  prepare(2, generator);
  resume(2);
  inner(1);
  resume(2);
  WORK();
}
FUNCTION void twins(void) {
  prepare(3, (void (*)(void))twin);
  prepare(4, (void (*)(void))twin);
  resume(3);
  resume(4);
  resume(3);
  resume(4);
  WORK();
}

int main(void) {
  workers();
  generate();
  twins();
  return 0;
}
