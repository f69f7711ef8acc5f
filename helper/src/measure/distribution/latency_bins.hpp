// Bins of latency that are equally wide on a logarithmic axis. Their bounds are whole ns.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptlens::measure {

class LatencyBins {
public:
  // From `least` to `most`, both included; fewer than `count` bins where some would be narrower
  // than 1 ns.
  LatencyBins(std::uint64_t least, std::uint64_t most, std::size_t count);

  [[nodiscard]] const std::vector<std::uint64_t>& bounds() const { return bounds_; }
  [[nodiscard]] std::size_t size() const { return bounds_.size() - 1; }

  // Returns the bin of a latency between `least` and `most`. A table by the leading bits of the
  // latency finds the first bin that it can be in.
  [[nodiscard]] std::size_t of(std::uint64_t latency) const {
    std::size_t bin = first_[key(latency)];
    while (bin + 1 < size() && latency >= bounds_[bin + 1]) {
      ++bin;
    }
    return bin;
  }

private:
  static constexpr unsigned kept_bits = 6;
  static constexpr std::size_t keys = std::size_t{64 - kept_bits + 1} << kept_bits;

  // Returns the position of the leading bit, and the bits after it. Ascends with the latency.
  static std::size_t key(std::uint64_t latency) {
    const auto width = static_cast<unsigned>(std::bit_width(latency));
    if (width <= kept_bits) {
      return latency;
    }
    const unsigned shift = width - kept_bits - 1;
    return (std::size_t{shift + 1} << kept_bits) +
           ((latency >> shift) & ((std::uint64_t{1} << kept_bits) - 1));
  }

  std::vector<std::uint64_t> bounds_;
  std::array<std::uint16_t, keys> first_{};
};

} // namespace ptlens::measure
