// Conversion from nanoseconds back to TSC ticks.
#include "perfdata/contents/time_conversion.hpp"

#include <algorithm>
#include <limits>

namespace ptlens::perfdata {

namespace {
__extension__ using Wide = unsigned __int128;
constexpr std::uint16_t largest_shift =
    63; // the kernel's are at most 32; the reader refuses others
} // namespace

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
