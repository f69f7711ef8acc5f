// Reads the calls of an edge one after the other, with the columns that explanations need.
#pragma once

#include "cache/reading/call_cache.hpp"
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

enum class ScanColumns : std::uint8_t {
  durations, // all but starts and uncertainties, which are 0
  all,
};

// Gives every call of the edge of that index to `take`. Leaves out the calls of damaged blocks.
template <ScanColumns columns = ScanColumns::durations, class Take>
void scan_calls(const cache::CallCache& cache, cache::EdgeId edge, const Take& take) {
  std::vector<std::uint32_t> orders;
  std::vector<std::uint64_t> starts;
  std::vector<std::uint64_t> latencies;
  std::vector<std::uint32_t> distances;
  std::vector<std::uint32_t> uncertainties;
  std::vector<std::uint8_t> flags;
  for (const cache::BlockEntry& entry : cache.blocks(edge)) {
    const auto block = cache.block(entry);
    if (!block) {
      continue;
    }
    block->read_orders(entry, sized_for(entry, orders));
    starts.resize(entry.calls);
    uncertainties.resize(entry.calls);
    if constexpr (columns == ScanColumns::all) {
      block->read_starts(entry, starts);
      block->uncertainty.read(std::span(uncertainties));
    }
    block->latency.read(sized_for(entry, latencies));
    block->distance.read(sized_for(entry, distances));
    block->flags.read(sized_for(entry, flags));
    std::size_t extra = 0;
    for (std::size_t at = 0; at < entry.calls; ++at) {
      ScannedCall call{.thread = entry.thread,
                       .order = stacks::CallId{orders[at]},
                       .parent = distances[at] == 0 ? stacks::CallId::none
                                                    : stacks::CallId{orders[at] - distances[at]},
                       .uncertainty = uncertainties[at],
                       .start = starts[at],
                       .latency = latencies[at]};
      call.state = cache::state_of(flags[at]);
      call.has_latency = cache::has_latency(flags[at]);
      if ((flags[at] & cache::extra_bit) != 0 && extra < entry.extras) {
        call.blocked = block->blocked[extra];
        call.preempted = block->preempted[extra];
        ++extra;
      }
      take(call);
    }
  }
}

} // namespace ptlens::measure
