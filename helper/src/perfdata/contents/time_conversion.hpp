// Conversion between TSC ticks and perf's clock. Formula: kernel include/uapi/linux/perf_event.h,
// the comment on cap_user_time_zero in struct perf_event_mmap_page. The values come from
// PERF_RECORD_TIME_CONV or AUXTRACE_INFO.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ptlens::perfdata {

struct TimeConversion {
  std::uint16_t shift = 0;
  std::uint32_t multiplier = 1;
  std::uint64_t zero = 0; // ns
  bool valid = false;     // false: the file has no conversion; ticks then count as ns

  bool operator==(const TimeConversion&) const = default;

  // A conversion for many times: its constants are computed once.
  class Fast {
  public:
    explicit Fast(const TimeConversion& of)
        : zero_(of.valid ? of.zero : 0), multiplier_(of.valid ? of.multiplier : 1),
          shift_(of.valid ? std::min(of.shift, largest_shift) : 0) {}

    // quotient = tsc >> shift, remainder = tsc & (2^shift - 1);
    // ns = zero + quotient * multiplier + ((remainder * multiplier) >> shift), modulo 2^64.
    // In 128-bit arithmetic it is zero + floor(tsc * multiplier / 2^shift), since quotient *
    // multiplier is a whole number.
    [[nodiscard]] std::uint64_t to_ns(std::uint64_t tsc) const {
      __extension__ using Wide = unsigned __int128;
      return zero_ + static_cast<std::uint64_t>((Wide{tsc} * multiplier_) >> shift_);
    }

  private:
    static constexpr std::uint16_t largest_shift = 63; // the kernel's are at most 32

    std::uint64_t zero_;
    std::uint64_t multiplier_;
    unsigned shift_;
  };

  [[nodiscard]] std::uint64_t to_ns(std::uint64_t tsc) const { return Fast(*this).to_ns(tsc); }

  // Returns the smallest tick count t with to_ns(t) >= ns, within one tick.
  [[nodiscard]] std::uint64_t to_tsc(std::uint64_t ns) const;
};

} // namespace ptlens::perfdata
