// Exceptions: caught several activations further up, through clean-ups, rethrown, and in a
// recursive function where only some activations have the handler for the exception.
#include "sample.h"

struct Guard {
  ~Guard();
};
extern "C" KEEP void clean_up() {
  WORK();
}
KEEP Guard::~Guard() {
  clean_up();
}

FUNCTION void thrower(int value) {
  WORK();
  throw value;
}
FUNCTION void guarded(int value) {
  Guard guard;
  thrower(value);
  WORK();
}
FUNCTION void between(int value) {
  guarded(value);
  WORK();
}
FUNCTION int catcher(int value) {
  int caught = 0;
  try {
    between(value);
  } catch (int number) {
    caught = number;
  }
  WORK();
  return caught;
}

FUNCTION int rethrows(int value) {
  try {
    thrower(value);
  } catch (int) {
    WORK();
    throw;
  }
  return 0;
}
FUNCTION int catches_again(int value) {
  int caught = 0;
  try {
    rethrows(value);
  } catch (int number) {
    caught = number;
  }
  WORK();
  return caught;
}

// descend(5) calls descend(4) ... descend(0), which throws. Only descend(3) has a handler for its
// callee's exception, so descend(2), (1) and (0) end unwound, and (3), (4) and (5) return.
FUNCTION int descend(int level) {
  int below = 0;
  if (level == 0) {
    throw 7;
  }
  if (level == 3) {
    try {
      below = descend(level - 1);
    } catch (int number) {
      below = number;
    }
  } else {
    below = descend(level - 1);
  }
  WORK();
  return below + 1;
}

int main() {
  int sum = 0;
  for (int i = 1; i <= 2; ++i) { // each exception takes some 20,000 instructions
    sum += catcher(i);
  }
  sum += catches_again(1);
  sum += descend(5);
  WORK();
  return sum == 0;
}
