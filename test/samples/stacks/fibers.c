// Stack switches in assembly: by `ret`, as in most fiber libraries, and by a jump to the address
// that the other side saved, as in Boost.Context and Go's scheduler. The first switch to a fiber
// enters its function. Two fibers switch to each other as well as to main.
#include "sample.h"

// void by_return(void** save, void* stack): saves the callee-saved registers, and returns on the
// other stack.
asm(".text\n"
    ".globl by_return\n"
    ".type by_return, @function\n"
    "by_return:\n"
    "  push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
    "  mov %rsp, (%rdi)\n"
    "  mov %rsi, %rsp\n"
    "  pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
    "  ret\n"
    ".size by_return, .-by_return\n");
// The same, but pops the return address and jumps to it.
asm(".text\n"
    ".globl by_jump\n"
    ".type by_jump, @function\n"
    "by_jump:\n"
    "  push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
    "  mov %rsp, (%rdi)\n"
    "  mov %rsi, %rsp\n"
    "  pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
    "  pop %r8\n"
    "  jmp *%r8\n"
    ".size by_jump, .-by_jump\n");
void by_return(void** save, void* stack);
void by_jump(void** save, void* stack);

static void* saved[3];                     // main, then the fibers
static _Alignas(16) void* stacks[4][1024]; // two switches per round trip
static void (*volatile change)(void**, void*);

FUNCTION void step(int value) {
  work_done = work_done + value;
}

FUNCTION void go(int from, int to) {
  change(&saved[from], saved[to]);
  WORK();
}

FUNCTION void first_fiber(void) {
  step(1);
  go(1, 0); // to main
  step(2);
  go(1, 2); // to the other fiber
  step(3);
  go(1, 0);
}
FUNCTION void second_fiber(void) {
  step(4);
  go(2, 0);
  step(5);
  go(2, 1);
}

// Six registers, and the function to return into. There is no return address above it.
FUNCTION void prepare(int stack, int fiber, void (*function)(void)) {
  void** top = &stacks[stack][1024 - 8];
  *--top = 0;
  *--top = (void*)function;
  saved[fiber] = top - 6;
}

FUNCTION void round_trip(int number, void (*how)(void**, void*)) {
  change = how;
  prepare(2 * number, 1, first_fiber);
  prepare(2 * number + 1, 2, second_fiber);
  go(0, 1); // first_fiber begins, switches back
  go(0, 2); // second_fiber begins, switches back
  go(0, 1); // first_fiber continues, then second_fiber, then first_fiber again, which switches back
  WORK();
}

int main(void) {
  round_trip(0, by_return);
  round_trip(1, by_jump);
  return 0;
}
