// What a probe costs on this machine: measured on functions of our own that know how long they
// take, which a child of ours calls while perf records it as it would record anything else, just
// before a recording. What it costs changes within tenths of a second, as other machines on the
// same host share the processor's core; of which see cost_in_time.hpp.
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

// Of the two ways in which the kernel goes on after a hit (arch/x86/kernel/uprobes.c): it does the
// instruction's work itself (push, jumps, nop), or steps over a copy of it, which costs a second
// trap. All in ns, of one time.
struct HitCost {
  double latency_ns = 0; // what the latency of a function that is entered so shows beyond the truth
  double hit_ns = 0;     // time that a hit takes from the thread; all hits of an entry together
  // Either may be off by this much in a recording made now, of whose own time nothing is known.
  double uncertainty_ns = 0;
};

// The same of an entry with a second probe (Probe::Kind::after_entry), and of such exits.
struct TimedHitCost : HitCost {
  double between_ns = 0;      // from the entry's hit to the second
  double exit_between_ns = 0; // from the exit's hit to a second at its instruction; 0: has none
  double residual_ns = 0;     // how far latency_at was off in nine of ten turns of the calibration

  // What the latency shows when these lie between the hits; 0 between the exit's: it is not known,
  // and they grew as the entry's did. An exit's hits may cost more where an entry's do not, for the
  // whole life of a process, and then the way to them grows more than they do. Powers and factor
  // are of a Zen 4, where a ninth more between an exit's hits goes with a fifth more of latency,
  // and a third more of those with a quarter more of an entry's goes with three tenths.
  [[nodiscard]] double latency_at(double between, double exit_between, bool emulated) const {
    return emulated ? latency_ns * growth(between, exit_between)
                    : latency_ns + increase(between, exit_between);
  }

  // Both hits of an entry are at one instruction: all of a hit is taken to grow as they do.
  [[nodiscard]] double growth(double between, double exit_between) const {
    const double entry = between / between_ns;
    const auto exit = exit_growth(exit_between);
    return exit ? std::pow(*exit * *exit / entry, 0.75) : entry;
  }

  // The second is at the next instruction: the whole way back to the program lies between the two.
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
  std::uint64_t calls = 0; // that were measured

  [[nodiscard]] const HitCost& of(bool is_emulated) const {
    return is_emulated ? emulated : stepped;
  }
  [[nodiscard]] const TimedHitCost& of_timed(bool is_emulated) const {
    return is_emulated ? timed_emulated : timed_stepped;
  }
};

// Takes some tenths of a second. `folder` is made and removed again. Errors: those of ProbeGroup
// and run_session; failed when hits were lost.
[[nodiscard]] Result<ProbeCost> measure_probe_cost(const Machine& machine, const std::string& perf,
                                                   const std::string& folder);

} // namespace ptlens::record
