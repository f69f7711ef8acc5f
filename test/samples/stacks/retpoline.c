// Indirect calls and jumps through retpolines: a thunk overwrites the return address of its own
// call and returns to it.
#include "sample.h"

FUNCTION int add(int value) {
  WORK();
  return value + 1;
}
FUNCTION int negate(int value) {
  WORK();
  return -value;
}
static int (*volatile chosen[2])(int) = {add, negate};

FUNCTION int calls(int value) {
  int result = chosen[value & 1](value);
  WORK();
  return result;
}
FUNCTION int jumps(int value) {
  WORK();
  return chosen[value & 1](value);
}
FUNCTION int switches(int value) {
  switch (value) {
  case 0:
    return add(value) + work_done;
  case 1:
    return negate(value) * 2 + work_done;
  case 2:
    WORK();
    return 7;
  case 3:
    WORK();
    return value * work_done;
  case 4:
    return work_done - 3;
  default:
    return 0;
  }
}

int main(void) {
  int sum = 0;
  for (int i = 0; i < 6; ++i) {
    sum += calls(i);
    WORK();
    sum += jumps(i);
    WORK();
    sum += switches(i);
    WORK();
  }
  return sum == 1000;
}
