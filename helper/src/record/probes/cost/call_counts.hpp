// Counts the calls of functions in a running process for a moment, without samples.
#pragma once

#include "base/error.hpp"
#include "record/probes/cost/probe_cost.hpp"
#include "record/probes/events/probe_group.hpp"
#include "record/probes/plan/probe_plan.hpp"
#include "record/processes/descriptor.hpp"
#include "record/targets/target_files.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::record {

// Calls per second of one function.
struct CallRate {
  double counted = 0;
  double alone = 0;      // estimate for the program without the probes that count
  double most = 0;       // the same with one more call: few or no counted calls do not prove that
                         // there are none
  bool is_least = false; // counting took most of the program's time: it calls more often alone
};

// What counted calls, without breakpoints in the program. The kernel needs some tenths of a second
// to remove it.
struct Counter {
  ProbeGroup group;
  Descriptor held;
};

struct CallCounts {
  std::vector<CallRate> rates;   // of each entry of the plan, in its order
  double cpus = 1;               // that the process could use: RunTime::of_program(), per time
  double turns_a_s = 0;          // how often its threads got a CPU
  std::vector<Counter> counters; // to be removed
};

// Counts the requested functions first, then the others: probes on those can take nearly all of the
// program's time, and hide how often it calls the rest. So the others are counted again without the
// most frequent ones, up to four times. Each count ends after some hundred hits, and after 0.15 s.
// `pid`: of a process or one of its threads; all threads of the process are counted. Errors: those
// of ProbeGroup; failed with the kernel's reason.
[[nodiscard]] Result<CallCounts> count_calls(const ProbePlan& plan, const ProbeCost& cost,
                                             const TargetFiles& files, const std::string& tracefs,
                                             std::int32_t pid);

// A function that was counted.
struct Counted {
  std::uint64_t hits = 0;
  double hit_ns = 0; // of one hit
};

// Returns whether hits took so much time that they hide how often the others are called.
[[nodiscard]] bool hides_others(std::span<const CallRate> rates);

// Returns the rates of functions that were counted together for some seconds, in which the program
// could use so many CPUs. The time that the hits took is no time of the program alone.
[[nodiscard]] std::vector<CallRate> rates_of(std::span<const Counted> functions, double seconds,
                                             double cpus);

// Returns the hits of the probes of an event, in the order of their definition, from the text of
// tracefs/uprobe_profile.
[[nodiscard]] std::vector<std::uint64_t> parse_profile(std::string_view text,
                                                       std::string_view event);

} // namespace ptlens::record
