// The linear map between TSC ticks and nanoseconds, in 128-bit arithmetic:
// ns = zero + floor(tsc * multiplier / 2^shift), which equals the kernel's two-step formula because
// quotient * multiplier is a whole number.
#include "perfdata/time_conversion.hpp"

#include <algorithm>
#include <limits>

namespace ptlens::perfdata {

namespace {
__extension__ using Wide = unsigned __int128;
constexpr std::uint16_t largest_shift =
    63; // the kernel's are at most 32; the reader refuses others
} // namespace

std::uint64_t TimeConversion::to_ns(std::uint64_t tsc) const {
  if (!valid) {
    return tsc;
  }
  const auto scaled = (Wide{tsc} * multiplier) >> std::min(shift, largest_shift);
  return zero + static_cast<std::uint64_t>(scaled);
}

std::uint64_t TimeConversion::to_tsc(std::uint64_t ns) const {
  if (!valid) {
    return ns;
  }
  const std::uint64_t since_zero = ns - zero;
  if (static_cast<std::int64_t>(since_zero) < 0 || multiplier == 0) {
    return 0; // earlier than tick 0
  }
  const Wide numerator = Wide{since_zero} << std::min(shift, largest_shift);
  const Wide ticks = (numerator + multiplier - 1) / multiplier;
  constexpr auto last = std::numeric_limits<std::uint64_t>::max();
  return ticks > last ? last : static_cast<std::uint64_t>(ticks);
}

} // namespace ptlens::perfdata
