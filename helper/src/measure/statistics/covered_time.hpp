// The time on a CPU of nested calls: calls in another call of their function, whose time includes
// it.
#pragma once

#include "cache/reading/block_reader.hpp"
#include "cache/reading/call_cache.hpp"
#include "measure/statistics/statistics.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ptlens::measure {

// The times during which some calls ran: [first, last] ns, ascending and disjoint.
class CallTimes {
public:
  enum class Of : std::uint8_t {
    nested,  // calls in another call of their function, whatever their state
    partial, // calls that are not complete, for as long as they can have run
  };
  // Finds such calls of the edges.
  CallTimes(const cache::CallCache& cache, std::span<const cache::EdgeId> edges, Of of);

  [[nodiscard]] bool empty() const { return empty_; }
  // Returns whether one of the calls ran on the thread at some time in [first, last].
  [[nodiscard]] bool overlap(std::uint32_t thread, std::uint64_t first, std::uint64_t last) const;

private:
  using Time = std::pair<std::uint64_t, std::uint64_t>;
  std::vector<std::vector<Time>> times_; // by thread
  bool empty_ = true;
};

struct CoveredTime {
  std::uint32_t at = 0; // position in the list of edges
  std::uint32_t thread = 0;
  WideSum on_cpu = 0; // ns
};

struct CoverOptions {
  // Only calls that began during these times can be nested; null: at any time.
  const CallTimes* within = nullptr;
  // Functions that count as one: a call of one of them in a call of another one is nested.
  std::span<const stacks::FunctionId> folded = {};
};

// Returns the time of the accepted calls of the edges that are nested in another accepted call of
// their function on their thread. Uses all cores.
[[nodiscard]] std::vector<CoveredTime> covered_times(const cache::CallCache& cache,
                                                     const cache::CallFilter& filter,
                                                     std::span<const cache::EdgeId> edges,
                                                     const CoverOptions& options = {});

} // namespace ptlens::measure
