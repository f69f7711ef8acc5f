// Why the slow calls of a function are slow: the gap between the mean latency of its slow calls and
// that of its typical calls, divided among the parts of a call. For each call, exactly,
//
//   latency = self on-CPU + blocked + preempted + the latencies of the calls that it made,
//
// where blocked and preempted are the call's own. The share of a part is the difference of its
// means divided by the gap, so that the shares sum to 1. All times are in ns.
#pragma once

#include "measure/explain/slow_and_typical.hpp"
#include "measure/measurement.hpp"
#include "measure/waits/wait_report.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::measure {

enum class PartKind : std::uint8_t {
  self,      // on-CPU, in the function's own code
  blocked,   // off-CPU in the function's own code, waiting
  preempted, // off-CPU in the function's own code, runnable
  child,     // calls of one function from one call site
  unknown,   // the same, of code that is not known
};

// A part of a call. Parts of the same kind differ by function and call site.
struct PartKey {
  PartKind kind = PartKind::self;
  stacks::FunctionId function =
      stacks::FunctionId::none;               // child: that is called; else: whose own time it is
  stacks::SiteId site = stacks::SiteId::none; // child: the call site

  bool operator==(const PartKey&) const = default;
};

// The call with the largest value of a part.
struct ExampleCall {
  std::int32_t tid = -1;
  std::uint64_t start = 0; // ns, perf's clock
};

// A part in slow and in typical calls. All values are per call of the explained function.
struct Part {
  PartKey key;
  double slow_mean = 0;
  double typical_mean = 0;
  double delta = 0; // slow_mean - typical_mean
  double share = 0; // of the gap
  // child: how often it was called, and how the difference divides into more calls and longer
  // ones; count_part + cost_part = delta.
  double slow_count = 0;
  double typical_count = 0;
  double count_part = 0;
  double cost_part = 0;
  // The number of calls of the explained function in which the part occurs.
  std::uint64_t slow_presence = 0;
  std::uint64_t typical_presence = 0;
  std::optional<ExampleCall> example = std::nullopt; // the slow call with the largest value
};

struct Component {
  Part part;
  // The interval of the share: 95 % of the resamples of a bootstrap over calls.
  double share_low = 0;
  double share_high = 0;
  // From the part down to what explains it: each step is the largest part of the step before, and
  // more than half of its delta. Empty where no part is.
  std::vector<Part> path = {};
  // What the wait that ends the path is for, where name_waits() found it.
  std::optional<WaitRow> wait = {};
};

// A statement about a call that is true or false.
struct Predicate {
  enum class Kind : std::uint8_t {
    caller,     // it was made from the call site `part.site`
    thread,     // it ran on thread `tid`
    blocked,    // it waited for `at_least` ns or longer, in the calls of `part` or in its own code
    preempted,  // it was runnable but off-CPU for `at_least` ns or longer
    count,      // it called `part` `at_least` times or more often
    duration,   // `part` took `at_least` ns or longer
    first,      // it was the first call on its thread
    cold_start, // it started within `at_least` ns after the first call
  };
  Kind kind = Kind::duration;
  PartKey part = {};
  std::int32_t tid = -1;
  std::uint64_t at_least = 0;
};

// Slow calls with the same cause.
struct SlowKind {
  std::uint64_t calls = 0;
  std::size_t component = 0; // index into Explanation::components: the dominant one
  Predicate predicate;       // of the best F1 against all calls
  double precision = 0;      // share of slow calls of this kind among the calls that fulfil it
  double recall = 0;         // share of the calls of this kind that fulfil it
  std::optional<ExampleCall> example;
};

struct VariancePart {
  PartKey key;
  double share = 0; // Cov(part, latency) / Var(latency); the shares sum to 1
};

struct Explanation {
  stacks::FunctionId function{};
  CallSet slow;
  CallSet typical;
  std::uint64_t complete = 0;      // calls that slow and typical ones were chosen from
  std::uint64_t left_out = 0;      // incomplete and unwound calls, which are never compared
  double gap = 0;                  // slow.mean - typical.mean
  double explained = 0;            // share of the gap in the components that were followed down
  std::uint64_t uncertainty = 0;   // of a latency, ± ns
  bool slowest_percent = false;    // the slow calls are those at or above the 99th percentile
  bool typical_are_others = false; // the typical calls are all that are not slow
  bool few_slow_calls = false;     // fewer than fewest_slow_calls
  bool gap_is_uncertain = false;   // less than three times the uncertainty
  std::vector<Component> components = {};  // largest delta first
  std::vector<SlowKind> kinds = {};        // most calls first
  std::vector<VariancePart> variance = {}; // largest share first
};

inline constexpr std::uint64_t fewest_slow_calls = 20;

// Components below this share of the gap are listed, but not followed down or counted as explained.
inline constexpr double least_followed_share = 0.05;

} // namespace ptlens::measure
