// How much of a call has to be read to show the beginning of what it led to: the entries of blocks
// say how many calls they contain, and when. Only blocks at the ends of the call are read.
#pragma once

#include "cache/reading/window_calls.hpp"
#include "measure/measurement.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/timeline/typical_calls.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ptlens::measure {

// Returns the number of calls that the call led to, at any depth; nothing where the times of calls
// do not say which ones are nested in it. `below`: the edges of all such calls, ascending.
[[nodiscard]] std::optional<std::uint64_t> count_nested(const Measurement& measurement,
                                                        std::span<const cache::EdgeId> below,
                                                        const StoredCall& call);

// Returns the window without the time in which only further calls begin: at least `most` calls of
// the edges begin in the rest, or all of them.
[[nodiscard]] cache::Window first_part(const Measurement& measurement,
                                       std::span<const cache::EdgeId> edges,
                                       const cache::Window& window, std::size_t most);

[[nodiscard]] PlacedCall place_of(const CallSubset& subset, std::uint32_t row);
// Returns the row of the call in a subset that contains it.
[[nodiscard]] std::optional<std::uint32_t> row_of(const CallSubset& subset, const PlacedCall& call);

// Calls of a function, and the first ones that each of them made directly.
struct FirstChildren {
  CallSubset subset;
  std::vector<cache::Window> windows; // that were read, by call
};
[[nodiscard]] FirstChildren read_first_children(const Measurement& measurement,
                                                stacks::FunctionId function,
                                                std::span<const PlacedCall> calls,
                                                std::size_t most);

} // namespace ptlens::measure
