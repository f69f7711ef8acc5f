// Converts timing packets to TSC ticks. The clock never goes back: a packet that would set it back
// does not change it.
#include "flow/packets/trace_clock.hpp"

#include <algorithm>

namespace ptlens::flow {
namespace {

constexpr unsigned tma_bits = 16;
constexpr unsigned mtc_bits = 8;

} // namespace

std::uint64_t TraceClock::crystal_to_tsc(std::uint64_t ticks) const {
  const std::uint64_t quotient = ticks / config_.tsc_per_crystal_denominator;
  const std::uint64_t remainder = ticks % config_.tsc_per_crystal_denominator;
  return quotient * config_.tsc_per_crystal_numerator +
         remainder * config_.tsc_per_crystal_numerator / config_.tsc_per_crystal_denominator;
}

void TraceClock::on_tsc(std::uint64_t tsc) {
  has_base_ = true;
  find_scale();
  has_crystal_ = false;
  base_ = tsc;
  cycles_ = 0;
  lost_cycles_ = false;
  latest_ = std::max(latest_, tsc);
}

void TraceClock::on_tma(std::uint16_t crystal, std::uint16_t fast) {
  if (!has_base_ || config_.tsc_per_crystal_numerator == 0 ||
      config_.tsc_per_crystal_denominator == 0) {
    return;
  }
  // FastCounter: TSC ticks since the crystal tick.
  crystal_base_ = base_ - fast;
  crystal_origin_ = crystal;
  crystal_ticks_ = 0;
  last_mtc_ = static_cast<std::uint8_t>(crystal >> config_.mtc_shift);
  last_mtc_is_short_ = config_.mtc_shift > tma_bits - mtc_bits;
  has_crystal_ = true;
}

// TMA has the low 16 bits of the crystal clock. With a long period an MTC has higher ones, too:
// takes those from the MTC that follows, which comes before the bits known repeat.
void TraceClock::complete_last_mtc(std::uint8_t crystal) {
  const unsigned first_missing = 1U << (tma_bits - config_.mtc_shift);
  unsigned last = last_mtc_ | (crystal & ~(first_missing - 1));
  if (last > crystal) {
    last -= first_missing;
  }
  last_mtc_ = static_cast<std::uint8_t>(last);
  last_mtc_is_short_ = false;
}

void TraceClock::on_mtc(std::uint8_t crystal) {
  if (!has_crystal_) {
    return;
  }
  if (last_mtc_is_short_) {
    complete_last_mtc(crystal);
  }
  const auto periods = static_cast<std::uint8_t>(crystal - last_mtc_);
  // The first MTC after TMA is at the next multiple of the period, not a whole period later.
  const std::uint64_t period = std::uint64_t{1} << config_.mtc_shift;
  const std::uint64_t into_period = (crystal_origin_ + crystal_ticks_) & (period - 1);
  if (periods == 0) {
    return;
  }
  crystal_ticks_ += periods * period - into_period;
  last_mtc_ = crystal;
  base_ = crystal_base_ + crystal_to_tsc(crystal_ticks_);
  cycles_ = 0;
  lost_cycles_ = false;
  latest_ = std::max(latest_, base_);
}

void TraceClock::on_overflow() {
  cycles_ = 0;
  lost_cycles_ = true;
}

void TraceClock::on_cbr(std::uint8_t ratio) {
  ratio_ = ratio;
  if (ratio != 0) {
    inverse_ratio_ = ((std::uint64_t{1} << inverse_shift) + ratio - 1) / ratio;
  }
  find_scale();
}

} // namespace ptlens::flow
