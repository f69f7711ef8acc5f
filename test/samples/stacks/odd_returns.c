// Returns and calls that are not what they seem: `ret` to a pushed address, a call that reads the
// instruction pointer, a call over data, a subroutine inside a function, a return by a jump, and a
// return past the caller.
#include "sample.h"

FUNCTION void target(void) {
  WORK();
}

asm(".text\n"
    ".globl pushes_target, reads_pointer, skips_data, has_subroutine, returns_by_jump\n"
    ".globl returns_twice_as_far, enters_far_return\n"
    ".type pushes_target, @function\n"
    "pushes_target:\n"
    "  lea target(%rip), %rax\n"
    "  push %rax\n"
    "  ret\n"
    ".size pushes_target, .-pushes_target\n"
    ".type reads_pointer, @function\n"
    "reads_pointer:\n"
    "  call 1f\n"
    "1: pop %rax\n"
    "  ret\n"
    ".size reads_pointer, .-reads_pointer\n"
    ".type skips_data, @function\n"
    "skips_data:\n"
    "  call 1f\n"
    "  .asciz \"words\"\n"
    "1: pop %rax\n"
    "  sub $8, %rsp\n"
    "  call target\n"
    "  add $8, %rsp\n"
    "  ret\n"
    ".size skips_data, .-skips_data\n"
    ".type has_subroutine, @function\n"
    "has_subroutine:\n"
    "  call 1f\n"
    "  call 1f\n"
    "  ret\n"
    "1: sub $16, %rsp\n"
    "  call target\n"
    "  add $16, %rsp\n"
    "  ret\n"
    ".size has_subroutine, .-has_subroutine\n"
    ".type returns_by_jump, @function\n"
    "returns_by_jump:\n"
    "  pop %rcx\n"
    "  jmp *%rcx\n"
    ".size returns_by_jump, .-returns_by_jump\n"
    ".type returns_twice_as_far, @function\n"
    "returns_twice_as_far:\n"
    "  add $8, %rsp\n"
    "  ret\n"
    ".size returns_twice_as_far, .-returns_twice_as_far\n"
    ".type enters_far_return, @function\n"
    "enters_far_return:\n"
    "  call returns_twice_as_far\n"
    "  ud2\n"
    ".size enters_far_return, .-enters_far_return\n");
void pushes_target(void);
void reads_pointer(void);
void skips_data(void);
void has_subroutine(void);
void returns_by_jump(void);
void enters_far_return(void);

FUNCTION void all_of_them(void) {
  pushes_target();
  WORK();
  reads_pointer();
  WORK();
  skips_data();
  WORK();
  has_subroutine();
  WORK();
  returns_by_jump();
  WORK();
  enters_far_return();
  WORK();
}

int main(void) {
  for (int i = 0; i < 3; ++i) {
    all_of_them();
  }
  return 0;
}
