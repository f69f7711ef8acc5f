// longjmp: out of several calls, into an outer activation of a recursive function, and the
// compiler's built-in form without a library call.
#include "sample.h"

#include <setjmp.h>

static jmp_buf outer;
static void* builtin_buffer[5];

FUNCTION void jumper(int value) {
  WORK();
  longjmp(outer, value);
}
FUNCTION void passes(int value) {
  jumper(value);
  WORK();
}
FUNCTION int lands(int value) {
  volatile int result = 0;
  if (setjmp(outer) == 0) {
    passes(value);
  } else {
    result = value;
  }
  WORK();
  return result;
}

// search(6) down to search(0), which jumps to the setjmp of search(4): 3, 2, 1, 0 end unwound.
static jmp_buf found;
FUNCTION int search(int level) {
  volatile int result = 1;
  if (level == 0) {
    longjmp(found, 1);
  }
  if (level == 4) {
    if (setjmp(found) == 0) {
      result += search(level - 1);
    }
  } else {
    result += search(level - 1);
  }
  WORK();
  return result;
}

FUNCTION void jumps_within(void) {
  WORK();
  __builtin_longjmp(builtin_buffer, 1);
}
FUNCTION int lands_within(void) {
  volatile int result = 1;
  if (__builtin_setjmp(builtin_buffer) == 0) {
    jumps_within();
  } else {
    result = 2;
  }
  WORK();
  return result;
}

int main(void) {
  int sum = 0;
  for (int i = 1; i <= 3; ++i) {
    sum += lands(i);
  }
  sum += search(6);
  sum += lands_within();
  sum += lands_within();
  return sum == 0;
}
