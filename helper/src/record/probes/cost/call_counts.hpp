// Counts the calls of functions in a running process for a moment, without samples.
#pragma once

#include "base/error.hpp"
#include "record/probes/events/probe_group.hpp"
#include "record/probes/plan/probe_plan.hpp"
#include "record/processes/descriptor.hpp"
#include "record/targets/target_files.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::record {

struct CallCounts {
  std::vector<double> calls_a_s; // of each entry of the plan, in its order
  double cpus = 1;               // that the process could use: RunTime::of_program(), per time
  // What counted them, without breakpoints in the program. The kernel needs some tenths of a second
  // to remove it.
  ProbeGroup group;
  Descriptor held;
};

// Counts for at most 0.3 s, and less where calls are frequent. `pid`: of a process or one of its
// threads; all threads of the process are counted. Errors: those of ProbeGroup; failed with the
// kernel's reason.
[[nodiscard]] Result<CallCounts> count_calls(const ProbePlan& plan, const TargetFiles& files,
                                             const std::string& tracefs, std::int32_t pid);

// Returns the hits of the probes of an event, in the order of their definition, from the text of
// tracefs/uprobe_profile.
[[nodiscard]] std::vector<std::uint64_t> parse_profile(std::string_view text,
                                                       std::string_view event);

} // namespace ptlens::record
