// The cost of a probe on this machine, measured with a child of the helper that calls functions
// which measure their own duration. kept_cost.hpp keeps it.
#pragma once

#include "base/error.hpp"
#include "record/machine/machine.hpp"

#include <string>

namespace ptlens::record {

// The cost of one kind of hit, in ns.
struct HitCost {
  double latency_ns = 0;     // entry: the excess in the measured latency of a function with such an
                             // entry, which ends at a breakpoint
  double hit_ns = 0;         // time that a hit takes from the thread, under any load
  double uncertainty_ns = 0; // of both, either way, in a recording that is made later
  double late_ns = 0; // added to latency_ns, ± late_ns, where the exit's hit comes long after the
                      // thread's previous one
  double frequent_ns = 0; // time that a hit takes which soon follows another one

  // Returns the time that a hit takes so long after the previous one of its thread.
  [[nodiscard]] double after(double pause_ns) const {
    constexpr double soon_ns = 25'000;
    return pause_ns < soon_ns ? frequent_ns : hit_ns;
  }
};

// After a hit the kernel either emulates the instruction (push, jumps, nop) or steps over a copy of
// it, which costs a second trap (arch/x86/kernel/uprobes.c). A return probe replaces the return
// address at the entry, which costs one more entry to the kernel when the function returns.
struct ProbeCost {
  HitCost emulated;
  HitCost stepped;
  // The hit of a return probe, with its share of the entry's hit. latency_ns is the difference that
  // it makes to the latency of a function that ends with it instead of a breakpoint.
  HitCost returned;
  double wait_ns = 0; // time that a record of a wait takes from the thread; 0: not known

  [[nodiscard]] const HitCost& of(bool is_emulated) const {
    return is_emulated ? emulated : stepped;
  }
};

// Measures the cost in some tenths of a second. Errors: the errors of ProbeGroup and ProbeReader,
// and failed when hits were lost.
[[nodiscard]] Result<ProbeCost> measure_probe_cost(const Machine& machine);

} // namespace ptlens::record
