// A function that the compiler inlines into three places. The counts follow from the argument:
// `inlined N` runs the instance in the loop N times, the instance inside another inlined function N
// / 3 times rounded up, the plain instance 5 times, and prints the expected counts.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace sums {

namespace {

volatile std::uint64_t sink = 0;

} // namespace

// Not inlined, so the inlined code contains calls.
__attribute__((noinline)) std::uint64_t stir(std::uint64_t value) {
  for (int i = 0; i < 3; ++i) {
    value ^= value << 13U;
    value ^= value >> 7U;
  }
  return value;
}

// Inlined everywhere: it has a branch, two calls and a loop.
__attribute__((always_inline)) inline std::uint64_t mix(std::uint64_t value) {
  if ((value & 1U) != 0) {
    value = stir(value + 3);
  }
  for (std::uint64_t i = 0; i < (value & 3U); ++i) {
    sink = sink + i;
  }
  sink = value;
  return stir(value) + sink;
}

__attribute__((always_inline)) inline std::uint64_t mix_twice(std::uint64_t value) {
  sink = sink + value;
  return mix(value) ^ stir(value);
}

__attribute__((noinline)) std::uint64_t in_a_loop(std::uint64_t count) {
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    total += mix(i);
    sink = total;
  }
  return total;
}

__attribute__((noinline)) std::uint64_t once(std::uint64_t value) {
  sink = value;
  const std::uint64_t mixed = mix(value);
  sink = mixed;
  return mixed + value;
}

__attribute__((noinline)) std::uint64_t nested(std::uint64_t value) {
  sink = value;
  return mix_twice(value) + 1;
}

} // namespace sums

int main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 30;
  std::uint64_t total = sums::in_a_loop(count);
  for (std::uint64_t i = 0; i < 5; ++i) {
    total += sums::once(i);
  }
  for (std::uint64_t i = 0; i < count; i += 3) {
    total += sums::nested(i);
  }
  std::printf(
      "in_a_loop %llu\nonce 5\nnested %llu\ntotal %llu\n", static_cast<unsigned long long>(count),
      static_cast<unsigned long long>((count + 2) / 3), static_cast<unsigned long long>(total));
  return 0;
}
