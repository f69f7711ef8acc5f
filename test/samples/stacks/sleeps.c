// Two of three calls of works sleep: means are not whole numbers.
#include "sample.h"

#include <time.h>

FUNCTION void works(int sleeps) {
  struct timespec time = {0, 1000000};
  WORK();
  if (sleeps) {
    nanosleep(&time, 0);
  }
  WORK();
}

int main(void) {
  for (int i = 0; i < 3; ++i) {
    works(i < 2);
    WORK();
  }
  return 0;
}
