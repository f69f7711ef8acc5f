// Time on a CPU of calls that lie in other calls of their function: those have it already.
#pragma once

#include "measure/block_reader.hpp"
#include "measure/edge_calls.hpp"
#include "measure/statistics.hpp"
#include "store/call_store.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

struct CoveredTime {
  const EdgeCalls* calls = nullptr;
  std::uint32_t thread = 0;
  WideSum on_cpu = 0; // ns
};

// Of the calls that run while others of their function and group among `calls` do, on their thread.
// `readers`: one a group. All cores read.
[[nodiscard]] std::vector<CoveredTime> covered_times(const store::CallStore& store,
                                                     std::span<const BlockReader> readers,
                                                     std::span<const EdgeCalls> calls);

} // namespace ptlens::measure
