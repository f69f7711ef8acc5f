// Time on a CPU of calls that lie in other calls of their function: those have it already.
#pragma once

#include "cache/block_reader.hpp"
#include "cache/call_cache.hpp"
#include "measure/statistics/statistics.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ptlens::measure {

// When calls of some edges ran that the store has marked as inside another call of their function,
// whatever came of them: [first, last] ns, ascending and apart.
class InnerTimes {
public:
  InnerTimes(const cache::CallCache& store, std::span<const std::uint32_t> edges);

  [[nodiscard]] bool empty() const { return empty_; }
  // Whether any ran on the thread at some time in [first, last].
  [[nodiscard]] bool meet(std::uint32_t thread, std::uint64_t first, std::uint64_t last) const;

private:
  using Time = std::pair<std::uint64_t, std::uint64_t>;
  std::vector<std::vector<Time>> times_; // by thread
  bool empty_ = true;
};

struct CoveredTime {
  std::uint32_t at = 0; // of the edges asked about
  std::uint32_t thread = 0;
  WideSum on_cpu = 0; // ns
};

// Of the admitted calls of the edges, those that run while others of their function among them do,
// on their thread. With `within`, only what began then is looked at. All cores read.
[[nodiscard]] std::vector<CoveredTime> covered_times(const cache::CallCache& store,
                                                     const cache::Admitted& admitted,
                                                     std::span<const std::uint32_t> edges,
                                                     const InnerTimes* within = nullptr);

} // namespace ptlens::measure
