// Calls out of a store, as a table: those of some edges, or all.
#pragma once

#include "cache/call_cache.hpp"
#include "stacks/calls/call.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ptlens::cache {

struct Gathered {
  // Ordered by thread, then by start, parents before their children. The parent of a call is there
  // where it was gathered as well.
  stacks::CallTable calls;
  std::vector<std::uint32_t> caller; // function of each call's parent, gathered or not
};

// The edges are indices, ascending. Calls of damaged blocks are left out.
[[nodiscard]] Gathered gather(const CallCache& store, std::span<const std::uint32_t> edges);

// Every call.
[[nodiscard]] Gathered gather_all(const CallCache& store);

// A table in its order, kept in memory. Errors: those of Writer::finish.
[[nodiscard]] Result<std::shared_ptr<CallCache>> store_of(const stacks::CallTable& table,
                                                          const Description& description);

} // namespace ptlens::cache
