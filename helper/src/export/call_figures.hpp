// The figures of one call, as they are listed.
#pragma once

#include "measure/measurement.hpp"
#include "stacks/calls/call.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace ptlens::exporting {

struct CallFigures {                        // ns
  std::optional<std::uint64_t> latency;     // nothing: an unwound call whose end was not seen
  std::uint64_t within = 0;                 // ± of the latency
  std::optional<std::uint64_t> self;        // nothing: not all that the call made was measured
  std::optional<std::uint64_t> raw_latency; // with the time of probes; nothing where latency is
  // Of a call without latency: it took at least and at most so long; nothing for a bound that is
  // not known.
  std::optional<std::pair<std::uint64_t, std::optional<std::uint64_t>>> bounds;
};

// Returns "complete", "incomplete" or "unwound".
[[nodiscard]] const char* word(stacks::CallState state);

[[nodiscard]] CallFigures figures_of(const measure::Measurement& measurement,
                                     const stacks::CallTable& table, std::size_t call);

// Returns the latency by the rule of brief_figure(); "≥ 40 µs" where the end was not seen.
[[nodiscard]] std::string latency_text(const measure::Measurement& measurement,
                                       const stacks::CallTable& table, std::size_t call);

} // namespace ptlens::exporting
