// Bins of latency that are equally wide on a logarithmic axis. Their bounds are whole ns.
#pragma once

#include "measure/statistics/leading_bits.hpp"

#include <array>
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
    std::size_t bin = first_[Leading::key(latency)];
    while (bin + 1 < size() && latency >= bounds_[bin + 1]) {
      ++bin;
    }
    return bin;
  }

private:
  using Leading = LeadingBits<6>;

  std::vector<std::uint64_t> bounds_;
  std::array<std::uint16_t, Leading::keys> first_{};
};

} // namespace ptlens::measure
