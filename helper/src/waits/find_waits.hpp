// Joins the times off-CPU, which come from switch records, with the samples of the scheduler's
// tracepoints.
#pragma once

#include "base/progress.hpp"
#include "perfdata/contents/context_switches.hpp"
#include "perfdata/recording.hpp"
#include "symbols/address_space.hpp"
#include "waits/kernel_names.hpp"
#include "waits/waits.hpp"

#include <cstdint>
#include <optional>
#include <set>

namespace ptlens::waits {

struct WaitSources {
  const perfdata::Recording& recording;
  const perfdata::ContextSwitches& switches;
  const symbols::AddressSpaces& spaces;
  const KernelNames& kernel;
  std::optional<std::int32_t> pid = {}; // only waits of this process
  // Events of probes at the entries of functions, whose samples contain the stack pointer and the
  // return address (record/manifest.hpp).
  std::set<std::uint64_t> entry_events = {};
};

// Errors: cancelled.
[[nodiscard]] Result<Waits> find_waits(const WaitSources& sources, const Progress& progress);

} // namespace ptlens::waits
