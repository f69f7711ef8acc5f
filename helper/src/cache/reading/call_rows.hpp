// Calls of a cache as rows of a table: a list of calls, where sums do not suffice.
#pragma once

#include "cache/reading/call_cache.hpp"
#include "stacks/calls/call.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
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

// Orders the calls of a thread: by start, callers first. A caller that was found late comes before
// the first call in it, outermost first; `before`: how much lower the order of that call is.
[[nodiscard]] inline auto place_in_thread(std::uint64_t start, std::uint32_t order,
                                          std::uint32_t before) {
  return std::tuple(start, order - before, before == 0, before == 0 ? order : ~order);
}

// Reads the calls of the edges, which ascend. Leaves out calls of damaged
// blocks.
[[nodiscard]] CallRows read_calls(const CallCache& cache, std::span<const EdgeId> edges);

// Some calls of a block.
struct ChosenCalls {
  EdgeId edge{};
  const BlockEntry* entry = nullptr; // of the cache
  std::vector<std::uint32_t> calls;  // indices, ascending
};

// Reads these calls; the blocks are different ones.
[[nodiscard]] CallRows read_calls(const CallCache& cache, std::span<const ChosenCalls> chosen);

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
