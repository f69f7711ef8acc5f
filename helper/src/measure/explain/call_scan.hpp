// Reads the calls of edges one after the other, with the columns that explanations need.
#pragma once

#include "base/parallel.hpp"
#include "cache/reading/call_columns.hpp"
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

// Gives every call of the block to `take`; none of a damaged block. `columns` is overwritten.
template <ScanColumns read, class Take>
void scan_block(const cache::CallCache& cache, const cache::BlockEntry& entry,
                cache::CallColumns& columns, const Take& take) {
  const auto block = cache.block(entry);
  if (!block) {
    return;
  }
  if constexpr (read == ScanColumns::states) {
    columns.read_states(entry, *block);
  } else {
    columns.read(entry, *block);
  }
  if constexpr (read == ScanColumns::all) {
    columns.read_times(entry, *block);
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
        call.blocked = block->blocked[extra];
        call.preempted = block->preempted[extra];
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
    scan_block<read>(cache, entry, columns, take);
  }
}

// A block of calls on an edge.
struct EdgeBlock {
  cache::EdgeId edge{};
  const cache::BlockEntry* entry = nullptr;
};

// Returns the blocks of the calls of a function.
[[nodiscard]] inline std::vector<EdgeBlock> blocks_to(const cache::CallCache& cache,
                                                      stacks::FunctionId function) {
  std::vector<EdgeBlock> blocks;
  for (const cache::EdgeId edge : cache.edges_to(function)) {
    for (const cache::BlockEntry& entry : cache.blocks(edge)) {
      blocks.push_back({.edge = edge, .entry = &entry});
    }
  }
  return blocks;
}

// Scans blocks on several threads: calls `take(part, edge, call)` with an element of `parts`, one
// for each thread.
template <ScanColumns read, class Part, class Take>
void scan_blocks(const cache::CallCache& cache, std::span<const EdgeBlock> blocks,
                 std::vector<Part>& parts, const Take& take) {
  do_parts(parts.size(), [&](std::size_t number) {
    Part& part = parts[number];
    cache::CallColumns columns;
    const std::size_t end = (number + 1) * blocks.size() / parts.size();
    for (std::size_t at = number * blocks.size() / parts.size(); at < end; ++at) {
      scan_block<read>(cache, *blocks[at].entry, columns,
                       [&](const ScannedCall& call) { take(part, blocks[at].edge, call); });
    }
  });
}

} // namespace ptlens::measure
