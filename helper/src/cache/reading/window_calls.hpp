// The calls of some stretches of time. Blocks that lie outside of them are not read.
#pragma once

#include "cache/reading/call_cache.hpp"
#include "cache/reading/call_rows.hpp"

#include <cstdint>
#include <span>

namespace ptlens::cache {

// A stretch of time on a thread, both ends included, ns.
struct Window {
  std::uint32_t thread = 0; // of the cache
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Reads the calls of the edges, which ascend, that overlap one of the windows. Leaves out calls of
// damaged blocks.
[[nodiscard]] CallRows read_calls(const CallCache& cache, std::span<const EdgeId> edges,
                                  std::span<const Window> windows);

// Edges, which ascend, and where their calls are read.
struct EdgesInWindows {
  std::span<const EdgeId> edges;
  std::span<const Window> windows;
};
// Does the same for several sets of edges, which have no edge in common.
[[nodiscard]] CallRows read_calls(const CallCache& cache, std::span<const EdgesInWindows> sets);

} // namespace ptlens::cache
