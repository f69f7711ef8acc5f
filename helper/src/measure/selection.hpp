// Which calls a question is about: --time, --latency, --tid and --ancestor of the command line.
#pragma once

#include "base/error.hpp"
#include "measure/measurement.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::measure {

struct Interval { // [low, high], ns
  std::uint64_t low = 0;
  std::uint64_t high = UINT64_MAX;
};

struct Selection {
  std::optional<Interval> time;      // the call starts within; relative to the start of the trace
  std::optional<Interval> latency;   // its latency lies within
  std::optional<std::int32_t> tid;
  std::string ancestor;              // some caller up the stack has this name
  Interval ancestor_latency;         // and this latency
};

// Index of the one function that `name` (and `binary`, when not empty: a path or its end) means:
// the full name, the name without parameters, or its last component. Errors: not_found with the
// nearest names in the remedy, bad_input when several functions answer to it (they are listed).
[[nodiscard]] Result<std::uint32_t> find_function(const Measurement& measurement,
                                                  const std::string& name,
                                                  const std::string& binary);

// Calls of `function` that the selection admits, ascending.
[[nodiscard]] std::vector<std::uint32_t> select_calls(const Measurement& measurement,
                                                      std::uint32_t function,
                                                      const Selection& selection);

} // namespace ptlens::measure
