// Tail calls. chain: middle and last are entered by jumps where the compiler optimises, and last
// returns to start. mutual: even and odd jump to each other. Further ones go through a pointer, by
// a conditional jump, and through the PLT or the GOT to a function of the C library.
#include "sample.h"

#include <stdlib.h>

FUNCTION int last(int value) {
  WORK();
  return value + 1;
}
FUNCTION int middle(int value) {
  WORK();
  return last(value * 2);
}
FUNCTION int start(int value) {
  WORK();
  return middle(value + 1);
}

FUNCTION int odd(int value);
FUNCTION int even(int value) {
  return value == 0 ? 1 : odd(value - 1);
}
FUNCTION int odd(int value) {
  return value == 0 ? 0 : even(value - 1);
}

static int (*volatile chosen)(int) = last;
FUNCTION int by_pointer(int value) {
  WORK();
  return chosen(value);
}

FUNCTION int maybe(int value) {
  if (value & 1) {
    return last(value);
  }
  WORK();
  return value;
}

FUNCTION int to_library(int value) {
  WORK();
  static unsigned seed;
  return rand_r(&seed);
}

// The callers below continue after each call: their calls are not tail calls.
FUNCTION int chain(int rounds) {
  int sum = 0;
  for (int i = 0; i < rounds; ++i) {
    sum += start(i);
  }
  return sum;
}
FUNCTION int mutual(int depth) {
  int sum = even(depth);
  WORK();
  return sum;
}

int main(void) {
  int sum = chain(5);
  sum += mutual(6); // even 6, odd 5, ... even 0: 4 calls of even, 3 of odd
  for (int i = 0; i < 4; ++i) {
    sum += by_pointer(i);
    sum += maybe(i);
    sum += to_library(i);
  }
  return sum == 0;
}
