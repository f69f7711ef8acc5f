// The second file of same_names.cpp.
#define NO_WORK_DONE
#include "sample.h"

__attribute__((noinline)) static void local(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    WORK();
    WORK();
  }
}

FUNCTION void other_file(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    local(20 + i);
    WORK();
  }
}
