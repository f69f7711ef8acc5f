// Figures of the calls of one edge, read from their blocks. Those of edges with many calls are kept
// in the store: see LargeEdge.
#pragma once

#include "cache/block_reader.hpp"
#include "cache/call_cache.hpp"
#include "cache/tally.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::cache {

struct EdgeTally {
  std::array<std::uint64_t, 3> states{}; // calls by state
  Tally tally;                           // of the complete ones, as are the ranks
  TalliedRanks ranks;
};

// Of the complete calls of the block that was read, with Columns::figures.
[[nodiscard]] Tally tally_of(const BlockReader& block);

// Of the calls of each edge that are admitted, read by all cores; of any call, as they are kept.
// Blocks that cannot be read count as empty, and the store says so.
[[nodiscard]] std::vector<EdgeTally> edge_tallies(const CallCache& store, const Admitted& admitted,
                                                  std::span<const std::uint32_t> edges);

// What to keep of the edges with at least so many calls. Nothing where a block cannot be read, or
// the work is cancelled.
[[nodiscard]] std::vector<LargeEdge> large_edges(const CallCache& store, std::uint64_t least_calls);

} // namespace ptlens::cache
