// What a probe costs on this machine: measured on functions of our own that know how long they
// take, which a child of ours calls while perf records it as it would record anything else, just
// before a recording. What it costs changes within tenths of a second, as other machines on the
// same host share the processor's core; of which see cost_in_time.hpp.
#pragma once

#include "base/error.hpp"
#include "record/machine.hpp"

#include <cstddef>
#include <cstdint>
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

// The same of an entry with a second probe (Probe::Kind::after_entry).
struct TimedHitCost : HitCost {
  double between_ns = 0;  // from the entry's hit to the second
  double residual_ns = 0; // how far latency_at was off in nine of ten turns of the calibration

  // What the latency shows at a time when `between` lie between the two hits. At one instruction
  // all of a hit is taken to grow alike; at the next one, where the whole way back to the program
  // lies between the two, by as much.
  [[nodiscard]] double latency_at(double between, bool emulated) const {
    return emulated ? latency_ns * between / between_ns : latency_ns + between - between_ns;
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
