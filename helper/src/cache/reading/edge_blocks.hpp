// Goes through the blocks of chosen edges, on several threads.
#pragma once

#include "base/parallel.hpp"
#include "cache/reading/call_cache.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace ptlens::cache {

// A block of calls on an edge.
struct EdgeBlock {
  EdgeId edge{};
  const BlockEntry* entry = nullptr;
};

// Returns the blocks of the functions' calls, by function and by edge.
[[nodiscard]] inline std::vector<EdgeBlock>
blocks_to(const CallCache& cache, std::span<const stacks::FunctionId> functions) {
  std::vector<EdgeBlock> blocks;
  for (const stacks::FunctionId function : functions) {
    for (const EdgeId edge : cache.edges_to(function)) {
      for (const BlockEntry& entry : cache.blocks(edge)) {
        blocks.push_back({.edge = edge, .entry = &entry});
      }
    }
  }
  return blocks;
}

// Calls `use(part, source, block)` for each source whose block is not damaged. `sources`: EdgeBlock
// or a structure with its members. Each of `parts`, one or more, is used by one thread.
template <class Source, class Part, class Use>
void each_block(const CallCache& cache, const std::vector<Source>& sources,
                std::vector<Part>& parts, const Use& use) {
  do_slices(std::span(sources), parts, [&](Part& part, std::span<const Source> slice) {
    for (const Source& source : slice) {
      if (const auto block = cache.block(*source.entry)) {
        use(part, source, *block);
      }
    }
  });
}

} // namespace ptlens::cache
