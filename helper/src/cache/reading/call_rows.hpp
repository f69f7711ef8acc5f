// Calls of a cache as rows of a table: a list of calls, where sums do not suffice.
#pragma once

#include "cache/reading/call_cache.hpp"
#include "stacks/calls/call.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ptlens::cache {

struct CallRows {
  // Ordered by thread, then by start, parents before their children. A parent that was not read is
  // none.
  stacks::CallTable calls;
  // The function of each call's parent, whether that was read or not.
  std::vector<stacks::FunctionId> caller;
  std::vector<stacks::CallId> order;
};

// Reads the calls of the edges, which ascend. Leaves out calls of damaged
// blocks.
[[nodiscard]] CallRows read_calls(const CallCache& cache, std::span<const EdgeId> edges);

// Names a call of a cache.
struct CallRef {
  const BlockEntry* block = nullptr; // of the cache
  EdgeId edge{};                     // that the block belongs to
  std::uint32_t at = 0;              // index in the block
};

// Reads these calls, in their order. The parents of the rows are none. Calls of damaged blocks are
// rows of zeros.
[[nodiscard]] CallRows read_calls(const CallCache& cache, std::span<const CallRef> calls);

// Reads every call.
[[nodiscard]] CallRows read_all_calls(const CallCache& cache);

} // namespace ptlens::cache
