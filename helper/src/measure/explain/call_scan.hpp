// Reads the calls of an edge one after the other, with the columns that explanations need.
#pragma once

#include "cache/reading/call_columns.hpp"
#include "stacks/calls/call.hpp"

#include <cstddef>
#include <cstdint>

namespace ptlens::measure {

struct ScannedCall {
  std::uint32_t thread = 0;
  stacks::CallId order{}; // number of opening in its thread
  stacks::CallId parent = stacks::CallId::none;
  std::uint32_t uncertainty = 0; // of the latency, ± ns
  std::uint64_t start = 0;       // ns, perf's clock
  std::uint64_t latency = 0;     // ns
  std::uint64_t blocked = 0;     // ns
  std::uint64_t preempted = 0;   // ns
  stacks::CallState state = stacks::CallState::complete;
  bool has_latency = true; // else a lower bound
};

enum class ScanColumns : std::uint8_t {
  durations, // all but starts and uncertainties, which are 0
  all,
};

// Gives every call of the edge of that index to `take`. Leaves out the calls of damaged blocks.
template <ScanColumns read = ScanColumns::durations, class Take>
void scan_calls(const cache::CallCache& cache, cache::EdgeId edge, const Take& take) {
  cache::CallColumns columns;
  for (const cache::BlockEntry& entry : cache.blocks(edge)) {
    const auto block = cache.block(entry);
    if (!block) {
      continue;
    }
    columns.read(entry, *block);
    if constexpr (read == ScanColumns::all) {
      columns.read_times(entry, *block);
    }
    std::size_t extra = 0;
    for (std::size_t at = 0; at < entry.calls; ++at) {
      const std::uint32_t order = columns.orders[at];
      const std::uint32_t distance = columns.distances[at];
      ScannedCall call{.thread = entry.thread,
                       .order = stacks::CallId{order},
                       .parent =
                           distance == 0 ? stacks::CallId::none : stacks::CallId{order - distance},
                       .latency = columns.latencies[at]};
      if constexpr (read == ScanColumns::all) {
        call.start = columns.starts[at];
        call.uncertainty = columns.uncertainties[at];
      }
      const std::uint8_t flags = columns.flags[at];
      call.state = cache::state_of(flags);
      call.has_latency = cache::has_latency(flags);
      if ((flags & cache::extra_bit) != 0 && extra < entry.extras) {
        call.blocked = block->blocked[extra];
        call.preempted = block->preempted[extra];
        ++extra;
      }
      take(call);
    }
  }
}

} // namespace ptlens::measure
