// Threads that end inside calls: by pthread_exit, which runs clean-up handlers, and by cancellation
// while they wait.
#include "sample.h"

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t waiting;
static sem_t never;

FUNCTION void cleans(void* argument) {
  (void)argument;
  WORK();
}
FUNCTION void stops(void) {
  WORK();
  pthread_exit((void*)0);
}
FUNCTION void waits(void) {
  sem_post(&waiting);
  sem_wait(&never); // a cancellation point
  WORK();
}
FUNCTION void cleaned(int cancelled) {
  pthread_cleanup_push(cleans, (void*)0);
  if (cancelled) {
    waits();
  } else {
    stops();
  }
  WORK();
  pthread_cleanup_pop(0);
}
FUNCTION void leaf(void) {
  WORK();
}
FUNCTION void descends(int level, int cancelled) {
  leaf();
  if (level > 0) {
    descends(level - 1, cancelled);
  } else {
    cleaned(cancelled);
  }
  WORK();
}
FUNCTION void* exits(void* argument) {
  descends(2, 0);
  WORK();
  return argument;
}
FUNCTION void* is_cancelled(void* argument) {
  descends(1, 1);
  WORK();
  return argument;
}
FUNCTION void* returns(void* argument) {
  leaf();
  WORK();
  return argument;
}

int main(void) {
  pthread_t threads[3];
  sem_init(&waiting, 0, 0);
  sem_init(&never, 0, 0);
  if (pthread_create(&threads[0], (void*)0, exits, (void*)0) != 0 ||
      pthread_create(&threads[1], (void*)0, is_cancelled, (void*)0) != 0 ||
      pthread_create(&threads[2], (void*)0, returns, (void*)0) != 0) {
    return 1;
  }
  sem_wait(&waiting);
  pthread_cancel(threads[1]);
  for (int i = 0; i < 3; ++i) {
    pthread_join(threads[i], (void**)0);
  }
  WORK();
  return 0;
}
