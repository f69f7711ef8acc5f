// Figures of the calls of one edge, computed from their blocks. The figures of edges with many
// calls are in the cache: see LargeEdge.
#pragma once

#include "cache/reading/block_reader.hpp"
#include "cache/reading/call_cache.hpp"
#include "cache/writing/tally.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::cache {

struct EdgeTally {
  std::array<std::uint64_t, 3> states{}; // calls by state
  Tally tally;                           // of complete calls, as the ranks
  TalliedRanks ranks;
};

// Returns the tally of the complete calls of the block that was read with Columns::figures.
[[nodiscard]] Tally tally_of(const BlockReader& block);

// Returns the figures of the accepted calls of each edge. All cores compute them, except for stored
// figures of large edges, which are used where every call is accepted. Blocks that cannot be read
// count as empty, and the cache reports the damage.
[[nodiscard]] std::vector<EdgeTally> edge_tallies(const CallCache& cache, const CallFilter& filter,
                                                  std::span<const EdgeId> edges);

// Returns the figures to store for edges with at least so many calls. Empty where a block cannot be
// read, or the work is cancelled.
[[nodiscard]] std::vector<LargeEdge> large_edges(const CallCache& cache, std::uint64_t least_calls);

} // namespace ptlens::cache
