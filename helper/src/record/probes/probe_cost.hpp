// The cost of a probe on this machine, measured just before a recording. A child of the helper
// calls functions that measure their own duration while perf records it. The cost changes within
// tenths of a second, because other machines on the same host share the core; cost_in_time.hpp
// corrects for that.
#pragma once

#include "base/error.hpp"
#include "record/machine/machine.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace ptlens::record {

// The cost of one kind of hit, in ns. After a hit the kernel either emulates the instruction (push,
// jumps, nop) or steps over a copy of it, which costs a second trap (arch/x86/kernel/uprobes.c).
struct HitCost {
  double latency_ns = 0; // the excess in the measured latency of a function with such an entry
  double hit_ns = 0;     // time that a hit takes from the thread, or all hits of an entry together
  // The error of both in a recording made now, when its own hits give no information.
  double uncertainty_ns = 0;
};

// The cost of an entry with a second probe (Probe::Kind::after_entry), and of exits with one.
struct TimedHitCost : HitCost {
  double between_ns = 0;      // time from the entry's hit to the second
  double exit_between_ns = 0; // time from the exit's hit to the second; 0: no second probe
  double residual_ns = 0;     // the error of latency_at in 90 % of the calibration's turns

  // Returns the excess in the latency when the hits of the entry and of the exit are `between` and
  // `exit_between` apart. When `exit_between` is 0 it is unknown, and is assumed to grow like the
  // entry's. In some processes the hits of exits cost more for the whole life of the process while
  // those of entries do not, and then the entry to the kernel grows more than the hits. The powers
  // and the factor were measured on a Zen 4: 11 % more between an exit's hits adds 20 % to the
  // latency, and 33 % more of those together with 25 % more of an entry's adds 30 %.
  [[nodiscard]] double latency_at(double between, double exit_between, bool emulated) const {
    return emulated ? latency_ns * growth(between, exit_between)
                    : latency_ns + increase(between, exit_between);
  }

  // Returns the factor for an entry whose hits are at one instruction. The whole hit is assumed to
  // grow with the time between them.
  [[nodiscard]] double growth(double between, double exit_between) const {
    const double entry = between / between_ns;
    const auto exit = exit_growth(exit_between);
    return exit ? std::pow(*exit * *exit / entry, 0.75) : entry;
  }

  // Returns the increase for an entry whose second hit is at the next instruction, so that the time
  // between the hits includes the return to the program.
  [[nodiscard]] double increase(double between, double exit_between) const {
    const double entry = between / between_ns;
    const double exit = exit_growth(exit_between).value_or(entry);
    return between - between_ns + 3.5 * exit_between_ns * std::max(0.0, exit / entry - 1);
  }

private:
  [[nodiscard]] std::optional<double> exit_growth(double exit_between) const {
    return exit_between > 0 && exit_between_ns > 0 ? std::optional(exit_between / exit_between_ns)
                                                   : std::nullopt;
  }
};

struct ProbeCost {
  HitCost emulated;
  HitCost stepped;
  TimedHitCost timed_emulated;
  TimedHitCost timed_stepped;
  std::uint64_t calls = 0; // of the calibration

  [[nodiscard]] const HitCost& of(bool is_emulated) const {
    return is_emulated ? emulated : stepped;
  }
  [[nodiscard]] const TimedHitCost& of_timed(bool is_emulated) const {
    return is_emulated ? timed_emulated : timed_stepped;
  }
};

// Measures the cost in a few tenths of a second. `folder` is created and removed again. Errors: the
// errors of ProbeGroup and run_session, and failed when hits were lost.
[[nodiscard]] Result<ProbeCost> measure_probe_cost(const Machine& machine, const std::string& perf,
                                                   const std::string& folder);

} // namespace ptlens::record
