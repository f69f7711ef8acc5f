// Children that begin inside their parent's calls, at its addresses: the parent's calls are not
// theirs, although they return from them. Children of vfork run on the parent's stack until they
// end.
#define _GNU_SOURCE
#include "sample.h"

#include <sys/wait.h>
#include <unistd.h>

FUNCTION int leaf(int value) {
  WORK();
  return value + 1;
}
FUNCTION void in_child(int count) {
  for (int turn = 0; turn < count; ++turn) {
    leaf(turn);
    WORK();
  }
}
FUNCTION void in_parent(pid_t child) {
  leaf(0);
  waitpid(child, (int*)0, 0);
  WORK();
}

// The child returns from both into main.
FUNCTION pid_t splits(void) {
  leaf(0);
  pid_t child = fork();
  if (child == 0) {
    in_child(3);
  } else {
    in_parent(child);
  }
  WORK();
  return child;
}
FUNCTION pid_t outer(void) {
  pid_t child = splits();
  leaf(1);
  WORK();
  return child;
}

// The child runs in this activation, which continues when the child has ended.
FUNCTION void borrows(int replaces) {
  leaf(0);
  pid_t child = vfork();
  if (child == 0) {
    in_child(2);
    if (replaces) {
      execl("/proc/self/exe", "replaced", "x", (char*)0);
    }
    _exit(0);
  }
  in_parent(child);
  WORK();
}

int main(int count, char** arguments) {
  (void)arguments;
  if (count > 1) { // the program that a child becomes
    in_child(4);
    return 0;
  }
  if (outer() != 0) {
    borrows(0);
    borrows(1);
  }
  WORK();
  return 0;
}
