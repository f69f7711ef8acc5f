// Very many short calls of equal length: none takes long, whatever part of the trace is lost.
// Arguments: the number of batches, and the microseconds to sleep after each.
#include "sample.h"

#include <stdlib.h>
#include <time.h>

FUNCTION void brief(void) {
  for (int i = 0; i < 8; ++i) {
    WORK();
  }
}
FUNCTION void batch(void) {
  for (int i = 0; i < 50; ++i) {
    brief();
  }
  WORK();
}

int main(int count, char** arguments) {
  const int batches = count > 1 ? atoi(arguments[1]) : 100;
  const struct timespec pause = {0, count > 2 ? 1000 * atoi(arguments[2]) : 0};
  for (int i = 0; i < batches; ++i) {
    batch();
    if (pause.tv_nsec != 0) {
      nanosleep(&pause, 0);
    }
  }
  return 0;
}
