// A library for same_names.cpp: built twice, into two files.
#include "sample.h"

FUNCTION int exported(int value) {
  for (int i = 0; i < 4; ++i) {
    WORK();
  }
  return value + work_done;
}
