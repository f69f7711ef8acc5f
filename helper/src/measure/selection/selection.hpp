// The selection of the calls that a question is about. Command line, protocol and panel have the
// same one.
#pragma once

#include "base/error.hpp"
#include "measure/measurement.hpp"
#include "measure/selection/interval.hpp"
#include "measure/selection/wait_reason.hpp"
#include "stacks/calls/call_states.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::measure {

// The call was made by the function, from the line if one is given; `negated`: it was not.
struct CallerCondition {
  std::string function;   // in conditions: NAME, or NAME@0xADDRESS
  std::string file;       // of the call site, or the end of its path; empty: any
  std::uint32_t line = 0; // 0: any
  bool negated = false;

  bool operator==(const CallerCondition&) const = default;
};

// At any depth, the call is inside a call of the function that took so long.
struct AncestorCondition {
  std::string function;
  Interval latency;

  bool operator==(const AncestorCondition&) const = default;
};

// The call itself called the function so often.
struct CallsCondition {
  std::string function;
  Interval count{.low = 1};

  bool operator==(const CallsCondition&) const = default;
};

// The call, with the calls that it made, was off-CPU for the reason for at least so long.
struct WaitCondition {
  AskedReason reason = blocked;
  std::uint64_t least = 1; // ns

  bool operator==(const WaitCondition&) const = default;
};

inline constexpr std::size_t most_ancestors = 8;
inline constexpr std::size_t most_conditions = 64; // of every other kind

// A call must fulfil all conditions.
struct Selection {
  Interval time;                        // of the call's start, ns since the start of the trace
  Interval latency;                     // ns; of an incomplete call its lower bound
  std::vector<std::int32_t> tids;       // one of these; empty: any
  std::vector<std::int32_t> not_tids;   // none of these
  std::vector<CallerCondition> callers; // one of those that are not negated, if there are any,
                                        // and all of the others
  std::vector<AncestorCondition> ancestors;
  std::vector<CallsCondition> calls;
  std::vector<WaitCondition> waited;
  stacks::CallStates states; // empty: those that the question is about, mostly complete
  bool complement = false;   // the calls in these states that do not fulfil all other conditions

  // Returns whether every call in the states is selected.
  [[nodiscard]] bool accepts_all() const;
  // Returns whether it has conditions other than time and threads.
  [[nodiscard]] bool is_of_calls() const;
  // Returns whether a condition needs the recorded waits.
  [[nodiscard]] bool needs_waits() const;
  [[nodiscard]] bool accepts_thread(std::int32_t tid) const;
  [[nodiscard]] stacks::CallStates states_or(stacks::CallStates otherwise) const {
    return states.empty() ? otherwise : states;
  }

  bool operator==(const Selection&) const = default;
};

// Returns the origin of a Selection's times: when the first thread was first traced, ns of perf's
// clock.
[[nodiscard]] std::uint64_t trace_start(const Measurement& measurement);

// Checks that the recording has the threads and functions of the conditions, so that a misspelt
// selection does not look like an empty result, and that the waits can be read where a condition
// needs them. Errors: not_found, and those of reading the waits.
[[nodiscard]] Result<void> check_selection(const Measurement& measurement,
                                           const Selection& selection);

} // namespace ptlens::measure
