// Calls through the PLT that are bound on first use, also by a jump, and functions that choose
// their implementation when the program is loaded.
#include "sample.h"

#include <stdlib.h>

FUNCTION int quick(int value) {
  WORK();
  return value + 1;
}
static int (*choose(void))(int) {
  return quick;
}
// Resolved by IRELATIVE in a statically linked program, by a PLT slot otherwise.
__attribute__((ifunc("choose"))) int selected(int value);

FUNCTION int bound_once(int rounds) {
  unsigned seed = 3;
  int sum = 0;
  for (int i = 0; i < rounds; ++i) {
    sum += rand_r(&seed); // the first call goes through the dynamic linker
    WORK();
  }
  return sum;
}
FUNCTION long bound_by_jump(const char* text) {
  WORK();
  return a64l(text);
}
FUNCTION int uses_selected(int value) {
  int result = selected(value);
  WORK();
  return result;
}

int main(void) {
  long sum = bound_once(3);
  sum += bound_by_jump("12");
  sum += bound_by_jump("13");
  for (int i = 0; i < 3; ++i) {
    sum += uses_selected(i);
  }
  return sum == 1;
}
