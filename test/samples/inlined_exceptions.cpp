// An inlined function that an exception leaves each fourth time: `inlined_exceptions N` runs the
// inlined instance N times, and (N + 3) / 4 of the runs throw.
#include <cstdint>
#include <cstdlib>

namespace sums {

namespace {

volatile std::uint64_t sink = 0;

} // namespace

__attribute__((noinline)) std::uint64_t stir(std::uint64_t value) {
  for (int i = 0; i < 3; ++i) {
    value ^= value << 13U;
    value ^= value >> 7U;
  }
  return value;
}

__attribute__((noinline)) std::uint64_t refuse_fourth(std::uint64_t value) {
  if (value % 4 == 0) {
    throw value;
  }
  return stir(value);
}

__attribute__((always_inline)) inline std::uint64_t guarded(std::uint64_t value) {
  sink = sink + stir(value);
  return refuse_fourth(value) + stir(value);
}

__attribute__((noinline)) std::uint64_t catching(std::uint64_t count) {
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    try {
      total += guarded(i);
    } catch (std::uint64_t value) {
      total += stir(value);
    }
    sink = total;
  }
  return total;
}

} // namespace sums

int main(int argc, char** argv) {
  return sums::catching(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10) == 0 ? 1 : 0;
}
