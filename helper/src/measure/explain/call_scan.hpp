// Reads the calls of an edge one after the other, with the columns that explanations need.
#pragma once

#include "cache/reading/call_cache.hpp"
#include "stacks/calls/call.hpp"

#include <cstddef>
#include <cstdint>
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
  bool end_unknown = false; // the latency is a lower bound
};

// Gives every call of the edge of that index to `take`. Leaves out the calls of damaged blocks.
template <class Take>
void scan_calls(const cache::CallCache& cache, cache::EdgeId edge, const Take& take) {
  std::vector<std::uint32_t> orders;
  std::vector<std::uint64_t> starts;
  for (const cache::BlockEntry& entry : cache.blocks(edge)) {
    const auto block = cache.block(entry);
    if (!block) {
      continue;
    }
    orders.resize(entry.calls);
    starts.resize(entry.calls);
    block->read_orders(entry, orders);
    block->read_starts(entry, starts);
    std::size_t extra = 0;
    for (std::size_t at = 0; at < entry.calls; ++at) {
      const auto flags = static_cast<std::uint8_t>(block->flags[at]);
      const auto distance = static_cast<std::uint32_t>(block->distance[at]);
      ScannedCall call{.thread = entry.thread,
                       .order = stacks::CallId{orders[at]},
                       .parent = distance == 0 ? stacks::CallId::none
                                               : stacks::CallId{orders[at] - distance},
                       .uncertainty = static_cast<std::uint32_t>(block->uncertainty[at]),
                       .start = starts[at],
                       .latency = block->latency[at]};
      call.state = cache::state_of(flags);
      call.end_unknown = (flags & cache::end_unknown_bit) != 0;
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
