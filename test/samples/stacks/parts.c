// Hot and cold parts of one function, and copies that the compiler makes of a function.
#include "sample.h"

__attribute__((cold)) FUNCTION void complain(int value) {
  work_done = work_done + value;
}

// Its rare half goes to split.cold, to which GCC jumps, or to split.cold.1, which LLVM calls.
int split(int value) {
  if (__builtin_expect(value % 3 == 0, 0)) {
    complain(value);
    complain(value + 1);
    work_done = work_done * 3;
    return work_done % 7;
  }
  WORK();
  return value;
}
static int (*volatile splitter)(int) = split; // LLVM splits what it may inline

// Its long half becomes partial.part.0, called or jumped to where the short half is inlined.
__attribute__((noinline)) static int leaf(int value) {
  WORK();
  return value;
}
static int partial(int* value) {
  if (*value < 0) {
    return 0;
  }
  int sum = 0;
  for (int i = 0; i < 2; ++i) {
    sum += leaf(*value);
    WORK();
    sum += leaf(i);
    WORK();
    sum += leaf(*value + 1);
    WORK();
    sum += leaf(*value + 2);
    WORK();
  }
  return sum;
}
static int (*volatile whole)(int*) = partial;
FUNCTION int partial_one(int value) {
  int result = partial(&value);
  WORK();
  return result;
}
FUNCTION int partial_two(int value) {
  int result = partial(&value);
  WORK();
  return result + 1;
}

struct Pair {
  int first;
  int second;
};
// Uses one member only: reshaped.isra.0.
__attribute__((noinline)) static int reshaped(struct Pair* pair, int unused) {
  (void)unused;
  WORK();
  return pair->first + work_done;
}

// Called with a constant in a loop and with a variable elsewhere: fixed.constprop.0 besides fixed.
__attribute__((noinline)) static int fixed(int value, int mode) {
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    WORK();
    switch (mode) {
    case 0:
      sum += value * 3 + work_done;
      break;
    case 1:
      sum -= value / (i + 1);
      break;
    case 2:
      sum ^= value << i;
      break;
    default:
      sum += value % (mode + 3 + i);
      break;
    }
  }
  return sum;
}

int main(int count, char** arguments) {
  (void)arguments;
  int sum = 0;
  for (int i = 0; i < 9; ++i) {
    sum += splitter(i); // three of the calls are rare
    WORK();
  }
  for (int i = -1; i < 3; ++i) {
    sum += partial_one(i); // three times the long half
    sum += partial_two(i);
  }
  for (int i = -1; i < 2; ++i) {
    int value = i;
    sum += whole(&value); // twice the long half
    WORK();
  }
  struct Pair pair = {count, 2};
  for (int i = 0; i < 4; ++i) {
    pair.first += i;
    sum += reshaped(&pair, i);
    WORK();
    sum += fixed(i, 1);
    WORK();
    sum += fixed(i, 1);
    WORK();
  }
  sum += fixed(sum, count);
  WORK();
  return sum == 0x7fffffff;
}
