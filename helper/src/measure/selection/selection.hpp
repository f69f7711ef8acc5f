// Which calls a question is about: --time, --latency, --tid and --ancestor of the command line.
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
  std::optional<Interval> time;    // the call starts within; relative to the start of the trace
  std::optional<Interval> latency; // its latency lies within
  std::optional<std::int32_t> tid;
  std::string ancestor;      // some caller up the stack has this name
  Interval ancestor_latency; // and this latency
};

// Index of the one function that `name` (and `binary`, when not empty: a path or its end) means:
// the full name, the name without parameters and template arguments, or its last components ("f"
// and "C::f" find "ns::C::f(int)"); the best kind of match only, in that order. "0x1234" and
// "name@0x1234" choose by ELF address. Errors: not_found with the nearest names in the remedy,
// bad_input when several functions answer to it (up to ten are listed with binary and address).
[[nodiscard]] Result<std::uint32_t>
find_function(const Measurement& measurement, const std::string& name, const std::string& binary);

// The same, but for all functions that answer to it: instances of a template, overloads, statics of
// equal names. Ascending.
[[nodiscard]] Result<std::vector<std::uint32_t>>
find_functions(const Measurement& measurement, const std::string& name, const std::string& binary);

// What times of a Selection count from: when the first thread was first traced, ns of perf's clock.
[[nodiscard]] std::uint64_t trace_start(const Measurement& measurement);

// Errors: not_found when the recording has no thread `tid` or no function `ancestor`, so that a
// slip in a selection is not taken for an empty result.
[[nodiscard]] Result<void> check_selection(const Measurement& measurement,
                                           const Selection& selection);

// "A,B", "A," or ",B"; each a number of ns or one with a unit (ns, us, ms, s; "1.5ms"). Errors:
// bad_input for anything else, for fractions of a ns, and for A > B.
[[nodiscard]] Result<Interval> parse_interval(std::string_view text);

// "G", "G,A" or "G,A,B" into `ancestor` and `ancestor_latency`; commas inside the brackets of a C++
// name belong to the name. Errors: bad_input; the selection is then unchanged.
[[nodiscard]] Result<void> parse_ancestor(std::string_view text, Selection& selection);

} // namespace ptlens::measure
