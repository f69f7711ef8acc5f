// Three threads on fewer processors; each is deep in its own calls while the scheduler moves it.
#include "sample.h"

#include <pthread.h>

enum { rounds = 12, depth = 8 };

FUNCTION int deep(int level) {
  int sum = 0;
  for (int i = 0; i < 20; ++i) {
    WORK();
  }
  if (level > 1) {
    sum = deep(level - 1);
  }
  WORK();
  return sum + 1;
}

FUNCTION void* works(void* argument) {
  int sum = 0;
  for (int i = 0; i < rounds; ++i) {
    sum += deep(depth);
  }
  return sum == 0 ? argument : 0;
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) {
    pthread_create(&threads[i], 0, works, 0);
  }
  for (int i = 0; i < 3; ++i) {
    pthread_join(threads[i], 0);
  }
  return 0;
}
