// Functions with the same name: two static ones (the other is in same_names_other.cpp), overloads,
// and a function that each library in the arguments exports (same_names_library.c).
#include "sample.h"

#include <dlfcn.h>

extern "C" void other_file(int rounds);

__attribute__((noinline)) static void local(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    WORK();
  }
}

KEEP int step(int value) {
  WORK();
  return value + 1;
}
KEEP double step(double value) {
  WORK();
  return value + 1.5;
}

int main(int count, char** arguments) {
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    local(10 + i);
    WORK();
  }
  other_file(5); // local of that file, 5 times
  for (int i = 0; i < 4; ++i) {
    sum = step(sum);
  }
  double real = 0;
  for (int i = 0; i < 6; ++i) {
    real = step(real);
  }
  for (int i = 1; i < count; ++i) {
    void* library = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
    auto exported = reinterpret_cast<int (*)(int)>(dlsym(library, "exported"));
    for (int round = 0; round < 6 + i; ++round) { // 7 times in the first, 8 in the second
      sum += exported(round);
    }
  }
  return sum + static_cast<int>(real) == 0;
}
