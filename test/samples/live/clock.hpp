// The clock of the sample programs: the time stamp counter (on Arm the virtual counter), which
// costs some 10 ns to read and needs no call. Its rate is compared with CLOCK_MONOTONIC, over 30 ms
// when the program starts and over the whole run at the end.
#pragma once

#include <cstdint>
#include <ctime>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace truth {

inline std::uint64_t ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  std::uint64_t value = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}

inline std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// One moment by both clocks.
struct Moment {
  std::uint64_t ticks = 0;
  std::uint64_t ns = 0;
};

// Reads both clocks several times and keeps the pair that took least, since the thread can lose the
// processor in between.
inline Moment moment() {
  Moment best;
  std::uint64_t least = UINT64_MAX;
  for (int attempt = 0; attempt < 20; ++attempt) {
    const std::uint64_t before = ticks();
    const std::uint64_t ns = monotonic_ns();
    const std::uint64_t after = ticks();
    if (after - before < least) {
      least = after - before;
      best = {before + (after - before) / 2, ns};
    }
  }
  return best;
}

inline double ticks_per_ns(const Moment& from, const Moment& to) {
  return static_cast<double>(to.ticks - from.ticks) / static_cast<double>(to.ns - from.ns);
}

// Measures the rate of the counter, for 30 ms.
inline double measured_rate() {
  const Moment from = moment();
  while (monotonic_ns() - from.ns < 30'000'000) {
  }
  return ticks_per_ns(from, moment());
}

} // namespace truth
