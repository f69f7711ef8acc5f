// Direct and mutual recursion without tail calls: each activation is a separate call.
#include "sample.h"

FUNCTION int three(int level) {
  int result = level;
  if (level > 1) {
    result += three(level - 1);
  }
  WORK();
  return result;
}

FUNCTION int pong(int level);
FUNCTION int ping(int level) {
  int result = level > 0 ? pong(level - 1) : 0;
  WORK();
  return result + 1;
}
FUNCTION int pong(int level) {
  int result = level > 0 ? ping(level - 1) : 0;
  WORK();
  return result + 1;
}

FUNCTION int fibonacci(int n) {
  if (n < 2) {
    return n;
  }
  int first = fibonacci(n - 1);
  WORK();
  int second = fibonacci(n - 2);
  WORK();
  return first + second;
}

int main(void) {
  int sum = three(3);
  WORK();
  sum += ping(4);
  WORK();
  sum += fibonacci(7); // 41 activations
  return sum == 0;
}
