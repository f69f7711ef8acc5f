// What a probe costs on this machine: measured on functions of our own that know how long they
// take, which a child of ours calls while perf records it as it would record anything else, just
// before a recording.
#pragma once

#include "base/error.hpp"
#include "record/machine.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace ptlens::record {

// Of the two ways in which the kernel goes on after a hit (arch/x86/kernel/uprobes.c): it does the
// instruction's work itself (push, jumps, nop), or steps over a copy of it, which costs a second
// trap.
struct HitCost {
  double latency_ns = 0; // what the latency of a function that is entered so shows beyond the truth
  double hit_ns = 0;     // time that a hit takes from the thread
  // Either may be off by this much in a recording made now.
  double uncertainty_ns = 0;
};

struct ProbeCost {
  HitCost emulated;
  HitCost stepped;
  std::uint64_t calls = 0; // that were measured

  [[nodiscard]] const HitCost& of(bool is_emulated) const {
    return is_emulated ? emulated : stepped;
  }
};

// Takes some tenths of a second. `folder` is made and removed again. Errors: those of ProbeGroup
// and run_session; failed when hits were lost.
[[nodiscard]] Result<ProbeCost> measure_probe_cost(const Machine& machine, const std::string& perf,
                                                   const std::string& folder);

} // namespace ptlens::record
