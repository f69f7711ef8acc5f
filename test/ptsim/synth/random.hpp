// Random numbers that are the same for the same seed on every machine: splitmix64 (Steele, Lea and
// Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
#pragma once

#include <cstdint>

namespace ptlens::ptsim::synth {

// A well-mixed number that depends on every bit of the given one.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

class Random {
public:
  explicit Random(std::uint64_t seed) : state_(mixed(seed + step)) {}

  std::uint64_t next() { return mixed(state_ += step); }

  // Uniform in [0, bound); bound 0 counts as 1.
  std::uint64_t below(std::uint64_t bound) {
    const auto wide = static_cast<unsigned __int128>(next()) * (bound == 0 ? 1 : bound);
    return static_cast<std::uint64_t>(wide >> 64U);
  }
  // Uniform in [low, high].
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + below(high - low + 1);
  }
  bool chance(double probability) {
    return static_cast<double>(next() >> 11U) * 0x1.0p-53 < probability;
  }

  static constexpr unsigned coin_bits = 15;
  // Uniform in [0, 2^coin_bits); four from each number.
  unsigned coin() {
    if (coins_left_ == 0) {
      coins_ = next();
      coins_left_ = 64 / coin_bits;
    }
    --coins_left_;
    const auto coin = static_cast<unsigned>(coins_ & ((1U << coin_bits) - 1));
    coins_ >>= coin_bits;
    return coin;
  }

private:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15U;
  std::uint64_t state_;
  std::uint64_t coins_ = 0;
  unsigned coins_left_ = 0;
};

} // namespace ptlens::ptsim::synth
