// The figures of a function, summed up while its calls are written.
#include "cache/format/block.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace ptlens::cache {

void FunctionSums::add(const FunctionSums& other) {
  for (std::size_t state = 0; state < calls.size(); ++state) {
    calls.at(state) += other.calls.at(state);
  }
  complete_latency.add(other.complete_latency);
  uncertainty.add(other.uncertainty);
  inclusive.add(other.inclusive);
  self.add(other.self);
  off_cpu.add(other.off_cpu);
  least = std::min(least, other.least);
  most = std::max(most, other.most);
}

FunctionSums sums_of(std::span<const Row> rows, std::span<const Extra> extras) {
  FunctionSums sums;
  Sum complete_latency;
  Sum uncertainty;
  Sum inclusive;
  Sum self;
  std::uint64_t complete = 0;
  for (const Row& row : rows) {
    self.add(row.latency > row.children ? row.latency - row.children : 0);
    if ((row.flags & inner_bit) == 0) {
      inclusive.add(row.latency);
    }
    if ((row.flags & state_bits) == 0) [[likely]] {
      ++complete;
      complete_latency.add(row.latency);
      uncertainty.add(row.uncertainty);
      sums.least = std::min(sums.least, row.latency);
      sums.most = std::max(sums.most, row.latency);
    } else {
      ++sums.calls[(row.flags & state_bits) % sums.calls.size()];
    }
    if ((row.flags & (inner_bit | extra_bit)) == extra_bit) [[unlikely]] {
      sums.off_cpu.add(extras[row.extra].blocked);
      sums.off_cpu.add(extras[row.extra].preempted);
    }
  }
  sums.calls[0] = complete;
  sums.complete_latency = complete_latency;
  sums.uncertainty = uncertainty;
  sums.inclusive = inclusive;
  sums.self = self;
  return sums;
}

void turn_inner(FunctionSums& sums, const Row& row, std::span<const Extra> extras) {
  const auto turn = [&](Sum& sum, std::uint64_t value) {
    if ((row.flags & inner_bit) != 0) {
      sum.subtract(value);
    } else {
      sum.add(value);
    }
  };
  turn(sums.inclusive, row.latency);
  if ((row.flags & extra_bit) != 0) {
    turn(sums.off_cpu, extras[row.extra].blocked);
    turn(sums.off_cpu, extras[row.extra].preempted);
  }
}

} // namespace ptlens::cache
