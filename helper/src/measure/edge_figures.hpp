// Figures of sets of calls of a store, straight from its blocks: nothing is gathered and nothing
// sorted. A set is made of whole edges, or of what one thread did on them.
#pragma once

#include "measure/block_reader.hpp"
#include "measure/statistics.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ptlens::measure {

inline constexpr std::uint32_t no_set = UINT32_MAX;

// The calls of an edge of the store.
struct EdgeCalls {
  std::uint32_t edge = 0;
  std::uint32_t group = 0; // which of the Admitted they are chosen by
  std::uint32_t set = no_set;
  std::uint32_t threads = no_set; // the calls of thread t belong to the set `threads` + t as well
};

struct SetFigures {
  std::array<std::uint64_t, 3> states{}; // calls by state
  Figures figures;
  std::vector<Bucket> histogram; // where it was asked for
};

// What to count.
struct Sets {
  std::uint32_t count = 0;
  std::uint32_t with_histogram = 0; // the sets before have one
  // The calls of the sets in [first_part, end_part) all belong to the first set as well.
  std::uint32_t first_part = 0;
  std::uint32_t end_part = 0;
};

class EdgeFigures {
public:
  // `admitted`: one a group.
  EdgeFigures(const store::CallStore& store, std::span<const Admitted> admitted, const Sets& sets);

  // Finds the calls that run while others of their function and group among `calls` do, on their
  // thread: their time on a CPU is in the outer ones' already. To be asked before read().
  void cover(std::span<const EdgeCalls> calls);

  [[nodiscard]] std::vector<SetFigures> read(std::span<const EdgeCalls> calls);

private:
  struct Set {
    std::uint64_t most = 0; // calls, as far as the directory tells
    std::array<std::uint64_t, 3> states{};
    Tally tally;
    WidthCounts away_widths{};
    std::vector<Ranks> ranks; // latencies, resolutions
    bool again = false;       // the latencies have to be read again
    bool resolutions_again = false;

    void add(const Set& part);
  };

  using GroupedFunction = std::pair<std::uint32_t, std::uint32_t>; // group, function
  [[nodiscard]] GroupedFunction function_of(const EdgeCalls& calls) const {
    return {calls.group, store_.edges()[calls.edge].edge.function};
  }
  void cover(std::span<const EdgeCalls* const> calls, std::uint32_t thread);
  template <class Use>
  void each_set(const EdgeCalls& calls, std::uint32_t thread, const Use& use);
  void count(const EdgeCalls& calls, const store::BlockEntry& entry);
  void count_again(const EdgeCalls& calls, const store::BlockEntry& entry);

  const store::CallStore& store_;
  std::vector<BlockReader> readers_; // one a group
  [[nodiscard]] bool is_part(std::uint32_t set) const {
    return set >= asked_.first_part && set < asked_.end_part;
  }

  Sets asked_;
  std::vector<Set> sets_;
};

} // namespace ptlens::measure
