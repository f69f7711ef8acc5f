// Which calls of a function are slow and which are typical.
#pragma once

#include "base/error.hpp"
#include "measure/explain/numbered_calls.hpp"
#include "measure/measurement.hpp"
#include "measure/selection/selection.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace ptlens::measure {

// A range of latencies: between two percentiles or two durations.
struct LatencyRange {
  bool percentiles = false;
  double low = 0; // per cent, or ns
  double high = std::numeric_limits<double>::infinity();
};

// Parses "p99" (at or above), "p40-p60", ">5ms", or "A,B" as parse_half_open() does. Errors:
// bad_input.
[[nodiscard]] Result<LatencyRange> parse_latency_range(std::string_view text);

struct SetChoice {
  std::optional<LatencyRange> slow;
  std::optional<LatencyRange> typical; // p40-p60 where it is not given
  bool typical_are_others = false;     // typical: all calls that are not slow
};

// Parses the text forms of both sets; empty: not given. `typical` may also be "others". Errors:
// bad_input.
[[nodiscard]] Result<SetChoice> parse_sets(std::string_view slow, std::string_view typical);

struct CallSet {
  std::uint64_t calls = 0;
  double mean = 0;        // ns
  std::uint64_t low = 0;  // least latency, ns
  std::uint64_t high = 0; // greatest latency, ns
};

// The compared calls of a function, numbered by a NumberedCalls.
struct FunctionCalls {
  enum class Set : std::uint8_t { other, slow, typical, both };
  struct OffCpu {
    std::uint32_t call = 0;      // its number
    std::uint64_t blocked = 0;   // ns
    std::uint64_t preempted = 0; // ns
  };

  explicit FunctionCalls(const cache::CallCache& cache) : index(cache.calls_by_thread()) {}

  NumberedCalls index;
  std::vector<std::uint64_t> latency; // ns, by number
  std::vector<std::uint64_t> start;   // ns
  std::vector<std::uint32_t> thread;
  std::vector<stacks::SiteId> site; // that it was made from
  std::vector<Set> set;
  std::vector<OffCpu> off_cpu;   // the calls that were off the CPU, in no order
  std::uint64_t left_out = 0;    // calls that are not complete
  std::uint64_t uncertainty = 0; // that 19 of 20 calls do not exceed, ± ns
  CallSet slow;
  CallSet typical;

  [[nodiscard]] std::size_t size() const { return latency.size(); }
  [[nodiscard]] bool is_slow(std::uint32_t call) const {
    return set[call] == Set::slow || set[call] == Set::both;
  }
  [[nodiscard]] bool is_typical(std::uint32_t call) const {
    return set[call] == Set::typical || set[call] == Set::both;
  }
};

// Returns the states of the calls that are compared: those of the selection, else complete; never
// incomplete, whose latency is not known.
[[nodiscard]] stacks::CallStates compared_states(const Selection& selection);

// Reads the calls of the function that are compared, and divides them; see explain(). Errors:
// bad_input where no call is slow or none is typical.
[[nodiscard]] Result<FunctionCalls> divide_calls(const Measurement& measurement,
                                                 stacks::FunctionId function,
                                                 const Selection& selection,
                                                 const SetChoice& choice);

} // namespace ptlens::measure
