// The simulated clocks of one processor: the core cycle counter that CYC packets count, the time
// stamp counter (TSC), the crystal clock (CTC) that MTC packets show, and perf's clock. Everything
// is derived from one exact count, so no rounding accumulates. Relations: Intel SDM vol. 3, "Intel
// Processor Trace", packets TSC, TMA, MTC, CYC, CBR; kernel tools/perf/util/tsc.c for perf's clock.
#pragma once

#include <cstdint>

namespace ptlens::ptsim {

struct ClockRates {
  std::uint64_t bus_hz = 100'000'000;
  std::uint64_t tsc_ratio = 30;              // TSC ticks per bus tick: the maximum non-turbo ratio
  std::uint64_t core_ratio = 36;             // core cycles per bus tick: what CBR shows
  std::uint64_t tsc_per_ctc_numerator = 125; // CPUID leaf 0x15: TSC / crystal
  std::uint64_t tsc_per_ctc_denominator = 1;

  [[nodiscard]] std::uint64_t tsc_hz() const { return bus_hz * tsc_ratio; }
  // TSC ticks in so much time.
  [[nodiscard]] std::uint64_t ticks(std::uint64_t nanoseconds) const;
};

// ns = zero + (tsc * multiplier >> shift), modulo 2^64, as PERF_RECORD_TIME_CONV has it.
struct TimeConversion {
  std::uint64_t shift = 31;
  std::uint64_t multiplier = 1;
  std::uint64_t zero = 0; // ns

  [[nodiscard]] std::uint64_t to_ns(std::uint64_t tsc) const;
};

class Clock {
public:
  // Starts at `start_ns` of perf's clock.
  Clock(const ClockRates& rates, std::uint64_t start_ns);

  [[nodiscard]] const ClockRates& rates() const { return rates_; }
  [[nodiscard]] const TimeConversion& conversion() const { return conversion_; }

  [[nodiscard]] std::uint64_t cycles() const { return cycles_; } // core cycles run so far
  [[nodiscard]] std::uint64_t tsc() const { return tsc_at(units_); }
  [[nodiscard]] std::uint64_t ctc() const;             // crystal ticks
  [[nodiscard]] std::uint64_t ticks_since_ctc() const; // TSC ticks since the last crystal tick
  [[nodiscard]] std::uint64_t ns() const { return ns_at(units_); }

  // The exact count. Of two clocks made alike, equal counts are equal times.
  [[nodiscard]] std::uint64_t units() const { return units_; }
  [[nodiscard]] std::uint64_t units_of(std::uint64_t cycles) const {
    return cycles * rates_.tsc_ratio;
  }
  [[nodiscard]] std::uint64_t tsc_at(std::uint64_t units) const {
    return tsc_at_start_ + units / rates_.core_ratio;
  }
  [[nodiscard]] std::uint64_t ns_at(std::uint64_t units) const {
    return conversion_.to_ns(tsc_at(units));
  }
  // The count when the crystal counter first shows `ctc`; 0 where it did so before the start.
  [[nodiscard]] std::uint64_t units_at_ctc(std::uint64_t ctc) const;

  // How many whole core cycles until the crystal counter first shows `ctc`; 0 if it does already.
  [[nodiscard]] std::uint64_t cycles_until_ctc(std::uint64_t ctc) const;

  void run(std::uint64_t cycles) { // the core works
    cycles_ += cycles;
    units_ += units_of(cycles);
  }
  void pass(std::uint64_t nanoseconds); // time goes by while the core counts nothing
  // Time goes by up to that count; no effect where it is past.
  void pass_until(std::uint64_t units) { units_ = units > units_ ? units : units_; }

private:
  ClockRates rates_;
  TimeConversion conversion_;
  std::uint64_t cycles_ = 0;
  std::uint64_t tsc_at_start_ = 0;
  // 1 core cycle = tsc_ratio units, 1 TSC tick = core_ratio units.
  std::uint64_t units_ = 0;
};

} // namespace ptlens::ptsim
