// The figures of a function, summed up while its calls are written.
#include "cache/format/block.hpp"
#include "cache/format/value_range.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace ptlens::cache {
namespace {

struct PlainSums {
  std::uint64_t latency = 0;
  std::uint64_t inclusive = 0;
  std::uint64_t self = 0;
  std::uint64_t uncertainty = 0;
};

// Sums complete calls without extra values, so few and short that no sum overflows.
PTLENS_ALSO_FOR_AVX2 PlainSums plain_sums(const std::uint64_t* flags,
                                          const std::uint64_t* latencies,
                                          const std::uint64_t* children,
                                          const std::uint64_t* uncertainties, std::size_t count) {
  PlainSums sums;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t latency = latencies[i];
    sums.latency += latency;
    sums.inclusive += (flags[i] & inner_bit) == 0 ? latency : 0;
    sums.self += latency > children[i] ? latency - children[i] : 0;
    sums.uncertainty += uncertainties[i];
  }
  return sums;
}

// Does the same for any rows.
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

} // namespace

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

FunctionSums BlockEncoder::sums(std::span<const Row> rows, std::span<const Extra> extras) const {
  constexpr unsigned summable_bits = 47; // of 65,535 latencies at most
  if ((all_flags_ & (state_bits | extra_bit)) != 0 || latencies_.base >> summable_bits != 0 ||
      (latencies_.base + latencies_.range) >> summable_bits != 0) {
    return sums_of(rows, extras);
  }
  const std::size_t count = rows.size();
  const PlainSums plain = plain_sums(
      column(flags_column, count).data(), column(latency_column, count).data(),
      column(children_column, count).data(), column(uncertainty_column, count).data(), count);
  FunctionSums sums;
  sums.calls[0] = count;
  sums.complete_latency.low = plain.latency;
  sums.uncertainty.low = plain.uncertainty;
  sums.inclusive.low = plain.inclusive;
  sums.self.low = plain.self;
  sums.least = latencies_.base;
  sums.most = latencies_.base + latencies_.range;
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
