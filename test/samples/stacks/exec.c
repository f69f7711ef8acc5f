// exec inside calls, then the same program again at the same addresses: open calls end with the old
// program, and the new one begins with an empty stack. Without arguments the program replaces
// itself twice, once from its first thread and once from another one.
#include "sample.h"

#include <pthread.h>
#include <unistd.h>

static char** arguments;

FUNCTION void becomes(const char* next) {
  char* words[] = {arguments[0], (char*)next, (char*)0};
  WORK();
  execv("/proc/self/exe", words);
  WORK();
}
FUNCTION void between(const char* next) {
  becomes(next);
  WORK();
}
FUNCTION int counts(int level) {
  int result = level;
  if (level > 0) {
    result += counts(level - 1);
  }
  WORK();
  return result;
}
FUNCTION void* in_thread(void* next) {
  counts(1);
  between((const char*)next);
  WORK();
  return next;
}
FUNCTION void waits(pthread_t thread) {
  pthread_join(thread, (void**)0);
  WORK();
}

int main(int count, char** words) {
  arguments = words;
  if (count == 1) { // 3 activations of counts
    counts(2);
    between("second");
  } else if (words[1][0] == 's') { // 5, then 2 in the thread
    pthread_t thread;
    counts(4);
    if (pthread_create(&thread, (void*)0, in_thread, "third") == 0) {
      waits(thread);
    }
  } else { // 4
    counts(3);
  }
  return 0;
}
