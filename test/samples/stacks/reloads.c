// Two libraries, one after the other at the same address, so that the same addresses belong to
// different functions. Built with LIBRARY=1 or 2 it is one of them, else the program. Status 2: the
// addresses differ.
#ifdef LIBRARY
#include "sample.h"
#define JOINED(name, number) name##number
#define NAMED(name, number) JOINED(name, number)

FUNCTION int NAMED(leaf_, LIBRARY)(int value) {
  WORK();
  return value + LIBRARY;
}
// At the same address in the other library.
FUNCTION int NAMED(entry_, LIBRARY)(int count) {
  int sum = 0;
  for (int turn = 0; turn < count; ++turn) {
    sum += NAMED(leaf_, LIBRARY)(turn);
    WORK();
  }
  return sum;
}
#else
#include "sample.h"

#include <dlfcn.h>
#include <stdio.h>

FUNCTION void* calls(const char* library, const char* function, int count) {
  void* loaded = dlopen(library, RTLD_NOW);
  if (loaded == (void*)0) {
    return (void*)0;
  }
  int (*entry)(int) = (int (*)(int))dlsym(loaded, function);
  entry(count);
  WORK();
  dlclose(loaded);
  return (void*)entry;
}

int main(int count, char** libraries) {
  if (count != 3) {
    return 1;
  }
  void* first = calls(libraries[1], "entry_1", 3);
  void* second = calls(libraries[2], "entry_2", 5);
  WORK();
  void* again = calls(libraries[1], "entry_1", 2);
  WORK();
  return first != (void*)0 && first == second && first == again ? 0 : 2;
}
#endif
