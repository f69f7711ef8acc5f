// The selection of the calls that a question is about: --time, --latency, --tid and --ancestor of
// the command line.
#pragma once

#include "base/error.hpp"
#include "measure/measurement.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::measure {

struct Interval { // [low, high], ns
  std::uint64_t low = 0;
  std::uint64_t high = UINT64_MAX;

  [[nodiscard]] bool contains(std::uint64_t value) const { return low <= value && value <= high; }
};

struct Selection {
  std::optional<Interval> time;    // of the call's start, relative to the start of the trace
  std::optional<Interval> latency; // of the call
  std::optional<std::int32_t> tid;
  std::string ancestor;      // the name of a direct or indirect caller
  Interval ancestor_latency; // of that caller

  // Returns whether no bound is set.
  [[nodiscard]] bool accepts_all() const { return !time && !latency && !tid && ancestor.empty(); }
};

// Returns the origin of a Selection's times: when the first thread was first traced, ns of perf's
// clock.
[[nodiscard]] std::uint64_t trace_start(const Measurement& measurement);

// Checks that the recording has the thread `tid` and the function `ancestor`, so that a misspelt
// selection does not look like an empty result. Errors: not_found.
[[nodiscard]] Result<void> check_selection(const Measurement& measurement,
                                           const Selection& selection);

// Parses "A,B", "A," or ",B". Each bound is a number of ns, or a number with a unit (ns, us, ms, s;
// "1.5ms"). Errors: bad_input for anything else, for fractions of a ns, and for A > B.
[[nodiscard]] Result<Interval> parse_interval(std::string_view text);

// Parses "G", "G,A" or "G,A,B" into `ancestor` and `ancestor_latency`. Commas inside the brackets
// of a C++ name belong to the name. Errors: bad_input; the selection is then unchanged.
[[nodiscard]] Result<void> parse_ancestor(std::string_view text, Selection& selection);

} // namespace ptlens::measure
