// A trace that begins and ends inside calls: at the entry of inner, and at the entry of stop_here.
#include "sample.h"

FUNCTION void leaf(void) {
  WORK();
}
FUNCTION void inner(void) {
  leaf();
  leaf();
  WORK();
}
FUNCTION void outer(void) {
  leaf(); // not traced
  inner();
  leaf();
  WORK();
}
FUNCTION void stop_here(void) {
  WORK();
}
FUNCTION void last_one(void) {
  leaf();
  stop_here();
  leaf(); // not traced
  WORK();
}

int main(void) {
  outer();
  leaf();
  last_one();
  return 0;
}
