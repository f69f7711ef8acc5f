// Reads the calls of edges one after the other, with the columns that explanations need.
#pragma once

#include "base/parallel.hpp"
#include "cache/reading/call_columns.hpp"
#include "cache/reading/edge_blocks.hpp"
#include "stacks/calls/call.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

// Which figures are read. The others are 0.
enum class ScanColumns : std::uint8_t {
  states,    // number of opening, state and has_latency
  durations, // all but starts and uncertainties
  all,
};

// Gives every call of the block to `take`. `columns` is overwritten.
template <ScanColumns read, class Take>
void scan_block(const cache::BlockEntry& entry, const cache::Block& block,
                cache::CallColumns& columns, const Take& take) {
  if constexpr (read == ScanColumns::states) {
    columns.read_states(entry, block);
  } else {
    columns.read(entry, block);
  }
  if constexpr (read == ScanColumns::all) {
    columns.read_times(entry, block);
  }
  [[maybe_unused]] std::size_t extra = 0;
  for (std::size_t at = 0; at < entry.calls; ++at) {
    const std::uint32_t order = columns.orders[at];
    const std::uint8_t flags = columns.flags[at];
    ScannedCall call{.thread = entry.thread,
                     .order = stacks::CallId{order},
                     .state = cache::state_of(flags),
                     .has_latency = cache::has_latency(flags)};
    if constexpr (read != ScanColumns::states) {
      const std::uint32_t distance = columns.distances[at];
      call.parent = distance == 0 ? stacks::CallId::none : stacks::CallId{order - distance};
      call.latency = columns.latencies[at];
      if ((flags & cache::extra_bit) != 0 && extra < entry.extras) {
        call.blocked = block.blocked[extra];
        call.preempted = block.preempted[extra];
        ++extra;
      }
    }
    if constexpr (read == ScanColumns::all) {
      call.start = columns.starts[at];
      call.uncertainty = columns.uncertainties[at];
    }
    take(call);
  }
}

// Gives every call of the edge to `take`. Leaves out the calls of damaged blocks.
template <ScanColumns read = ScanColumns::durations, class Take>
void scan_calls(const cache::CallCache& cache, cache::EdgeId edge, const Take& take) {
  cache::CallColumns columns;
  for (const cache::BlockEntry& entry : cache.blocks(edge)) {
    if (const auto block = cache.block(entry)) {
      scan_block<read>(entry, *block, columns, take);
    }
  }
}

// Scans blocks on several threads: calls `take(part, edge, call)` with an element of `parts`, one
// for each thread.
template <ScanColumns read, class Part, class Take>
void scan_blocks(const cache::CallCache& cache, const std::vector<cache::EdgeBlock>& blocks,
                 std::vector<Part>& parts, const Take& take) {
  do_slices(std::span(blocks), parts, [&](Part& part, std::span<const cache::EdgeBlock> slice) {
    cache::CallColumns columns;
    for (const auto& [edge, entry] : slice) {
      if (const auto block = cache.block(*entry)) {
        scan_block<read>(*entry, *block, columns,
                         [&](const ScannedCall& call) { take(part, edge, call); });
      }
    }
  });
}

} // namespace ptlens::measure
