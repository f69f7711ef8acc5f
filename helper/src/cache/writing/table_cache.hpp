// Makes a cache of calls that are in a table.
#pragma once

#include "cache/format/description.hpp"
#include "cache/reading/call_cache.hpp"
#include "stacks/calls/call_table.hpp"

#include <memory>

namespace ptlens::cache {

// Makes a cache in memory from the calls of an ordered table. Errors: those of Writer::finish.
[[nodiscard]] Result<std::shared_ptr<CallCache>> cache_of(const stacks::CallTable& table,
                                                          const Description& description);

} // namespace ptlens::cache
