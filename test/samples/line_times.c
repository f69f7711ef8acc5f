// Lines whose numbers of executions follow from the argument: `line_times N` prints the expected
// number for each mark, as "mark executions". A mark in a comment names its line.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

__attribute__((noinline)) uint64_t square(uint64_t value) {
  return value * value; // @square
}

// clang-format off
__attribute__((noinline)) void spin(uint64_t turns) {
  for (uint64_t i = 0; i < turns; ++i) sink = sink + i; // @one_line_loop
}
// clang-format on

__attribute__((noinline)) uint64_t descend(uint64_t depth) {
  sink = sink + depth; // @descend
  if (depth == 0) {    // @bottom
    return 1;          // @leaf
  }
  const uint64_t below = descend(depth - 1); // @recursion
  sink = sink + below;                       // @back
  return below + 1;
}

static inline uint64_t twice(uint64_t value) {
  sink = sink + value;
  return value + sink;
}

__attribute__((noinline)) uint64_t pause_for(uint64_t ns) {
  const struct timespec time = {0, (long)ns};
  return (uint64_t)nanosleep(&time, NULL); // @sleep
}

__attribute__((noinline)) uint64_t work(uint64_t count) {
  uint64_t total = 0;                      // @once
  for (uint64_t i = 0; i < count; ++i) {   // @loop
    total += i * 3 + (sink & 1);           // @plain
    spin(100 * (i % 4));                   // @callee
    total += square(i) + square(i + 1);    // @two_callees
    if (i % 5 == 0) {                      // @condition
      total += pause_for(1000) + twice(i); // @fifth
    }
    total += descend(i % 3); // @deep
  }
  return total; // @end
}

int main(int argc, char** argv) {
  const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 30;
  const uint64_t total = work(count);
  uint64_t turns = 0;
  uint64_t levels = 0;
  for (uint64_t i = 0; i < count; ++i) {
    turns += 100 * (i % 4);
    levels += i % 3 + 1;
  }
  const unsigned long long n = count;
  printf("once 1\nloop %llu\nplain %llu\ncallee %llu\ntwo_callees %llu\n", n + 1, n, n, n);
  printf("condition %llu\nfifth %llu\ndeep %llu\nend 1\n", n, (n + 4) / 5, n);
  printf("square %llu\none_line_loop %llu\n", 2 * n, n + (unsigned long long)turns);
  printf("descend %llu\nbottom %llu\nleaf %llu\n", (unsigned long long)levels,
         (unsigned long long)levels, n);
  printf("recursion %llu\nback %llu\nsleep %llu\n", (unsigned long long)levels - n,
         (unsigned long long)levels - n, (n + 4) / 5);
  fprintf(stderr, "%llu\n", (unsigned long long)total);
  return 0;
}
