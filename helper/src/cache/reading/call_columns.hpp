// The columns that every call has, of one block after the other. The vectors keep their memory.
#pragma once

#include "cache/reading/call_cache.hpp"

#include <cstdint>
#include <vector>

namespace ptlens::cache {

struct CallColumns {
  std::vector<std::uint32_t> orders;
  std::vector<std::uint64_t> starts;    // ns, perf's clock
  std::vector<std::uint64_t> latencies; // ns
  std::vector<std::uint64_t> children;  // ns
  std::vector<std::uint32_t> distances; // to the number of opening of the parent; 0: no parent
  std::vector<std::uint32_t> uncertainties;
  std::vector<std::uint8_t> flags;

  void read_states(const BlockEntry& entry, const Block& block) {
    block.read_orders(entry, sized_for(entry, orders));
    block.flags.read(sized_for(entry, flags));
  }

  // Reads all but the columns of times and children.
  void read(const BlockEntry& entry, const Block& block) {
    block.read_orders(entry, sized_for(entry, orders));
    block.latency.read(sized_for(entry, latencies));
    block.distance.read(sized_for(entry, distances));
    block.flags.read(sized_for(entry, flags));
  }

  void read_times(const BlockEntry& entry, const Block& block) {
    block.read_starts(entry, sized_for(entry, starts));
    block.uncertainty.read(sized_for(entry, uncertainties));
  }

  // Reads the time in callees, after the latencies.
  void read_children(const BlockEntry& entry, const Block& block) {
    block.read_children(latencies, sized_for(entry, children));
  }

  void read_all(const BlockEntry& entry, const Block& block) {
    read(entry, block);
    read_times(entry, block);
    read_children(entry, block);
  }
};

// The calls of one block after the other as the time line has them.
struct CallStarts {
  std::vector<std::uint64_t> starts;
  std::vector<std::uint32_t> orders;

  // Returns false where the block is damaged.
  bool read(const CallCache& cache, const BlockEntry& entry) {
    const auto block = cache.block(entry);
    if (block) {
      block->read_starts(entry, sized_for(entry, starts));
      block->read_orders(entry, sized_for(entry, orders));
    }
    return block.has_value();
  }
};

} // namespace ptlens::cache
