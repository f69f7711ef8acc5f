// Calls out of a store, as a table: those of some edges, or all.
#pragma once

#include "stacks/call.hpp"
#include "store/call_store.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ptlens::store {

struct Gathered {
  // Ordered by thread, then by start, parents before their children. The parent of a call is there
  // where it was gathered as well.
  stacks::CallTable calls;
  std::vector<std::uint32_t> caller; // function of each call's parent, gathered or not
};

// The edges are indices, ascending. Calls of damaged blocks are left out.
[[nodiscard]] Gathered gather(const CallStore& store, std::span<const std::uint32_t> edges);

// Every call.
[[nodiscard]] Gathered gather_all(const CallStore& store);

// A table in its order, kept in memory. Errors: those of Writer::finish.
[[nodiscard]] Result<std::shared_ptr<CallStore>> store_of(const stacks::CallTable& table,
                                                          const Description& description);

} // namespace ptlens::store
