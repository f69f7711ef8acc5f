// The simulated clocks, all from one count of units.
#include "trace/clock.hpp"

namespace ptlens::ptsim {
namespace {

constexpr std::uint64_t ns_per_second = 1'000'000'000;

} // namespace

std::uint64_t TimeConversion::to_ns(std::uint64_t tsc) const {
  const std::uint64_t quotient = tsc >> shift;
  const std::uint64_t remainder = tsc & ((std::uint64_t{1} << shift) - 1);
  return zero + quotient * multiplier + ((remainder * multiplier) >> shift);
}

Clock::Clock(const ClockRates& rates, std::uint64_t start_ns) : rates_(rates) {
  const std::uint64_t scaled = ns_per_second << conversion_.shift;
  conversion_.multiplier = (scaled + rates_.tsc_hz() / 2) / rates_.tsc_hz();
  // A machine that ran for an hour before perf's clock began, so that `zero` is not trivial.
  tsc_at_start_ = (start_ns + 3600 * ns_per_second) / 1000 * (rates_.tsc_hz() / 1'000'000);
  conversion_.zero = start_ns - conversion_.to_ns(tsc_at_start_);
}

std::uint64_t Clock::ctc() const {
  return tsc() * rates_.tsc_per_ctc_denominator / rates_.tsc_per_ctc_numerator;
}

std::uint64_t Clock::ticks_since_ctc() const {
  const std::uint64_t ratio = rates_.tsc_per_ctc_numerator / rates_.tsc_per_ctc_denominator;
  return tsc() - ctc() * ratio;
}

std::uint64_t Clock::units_at_ctc(std::uint64_t ctc) const {
  const std::uint64_t denominator = rates_.tsc_per_ctc_denominator;
  const std::uint64_t tsc = (ctc * rates_.tsc_per_ctc_numerator + denominator - 1) / denominator;
  return tsc <= tsc_at_start_ ? 0 : (tsc - tsc_at_start_) * rates_.core_ratio;
}

std::uint64_t Clock::cycles_until_ctc(std::uint64_t ctc) const {
  const std::uint64_t units = units_at_ctc(ctc);
  return units <= units_ ? 0 : (units - units_ + rates_.tsc_ratio - 1) / rates_.tsc_ratio;
}

std::uint64_t ClockRates::ticks(std::uint64_t nanoseconds) const {
  // Whole microseconds and the rest apart: no overflow for any time below a century.
  const std::uint64_t per_microsecond = tsc_hz() / 1'000'000;
  return nanoseconds / 1000 * per_microsecond + nanoseconds % 1000 * per_microsecond / 1000;
}

void Clock::pass(std::uint64_t nanoseconds) {
  units_ += rates_.ticks(nanoseconds) * rates_.core_ratio;
}

} // namespace ptlens::ptsim
