// Figures of sets of calls of a store, straight from its blocks: nothing is gathered and nothing
// sorted. A set is made of whole edges, or of what one thread did on them. Many blocks are read by
// all cores. Of single edges, see cache::edge_tallies().
#pragma once

#include "cache/block_reader.hpp"
#include "measure/statistics/statistics.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace ptlens::measure {

inline constexpr std::uint32_t no_set = UINT32_MAX;

// The calls of an edge of the store, and the sets that they belong to.
struct EdgeCalls {
  std::uint32_t edge = 0;
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
  EdgeFigures(const cache::CallCache& store, const cache::Admitted& admitted, const Sets& sets);

  // So much time on a CPU of what the thread did on the edge is in other calls of the set already,
  // ns. To be told before read().
  void cover(const EdgeCalls& calls, std::uint32_t thread, WideSum on_cpu);

  [[nodiscard]] std::vector<SetFigures> read(std::span<const EdgeCalls> calls);

private:
  struct Set {
    std::array<std::uint64_t, 3> states{};
    Tally tally;
    UncertaintyCounts away_widths{};
    std::vector<cache::Ranks> ranks; // latencies, uncertainties; none before the first call
    bool again = false;              // the latencies have to be read again
    bool uncertainties_again = false;

    // At most so many calls come.
    void begin(std::uint64_t most);
    // Of no more calls than this one has begun with; where it has not, of as many as it would.
    void add(Set part);
    [[nodiscard]] bool any_again() const { return again || uncertainties_again; }
  };
  struct Stretch { // of the blocks of an edge
    const EdgeCalls* calls = nullptr;
    std::span<const cache::BlockEntry> blocks;
  };
  // What one thread reads, and what it makes of it.
  struct CallSubset {
    std::span<const Stretch> stretches;
    cache::BlockReader reader;
    std::unordered_map<std::uint32_t, Set> sets; // those that it has calls of
  };

  [[nodiscard]] bool is_part(std::uint32_t set) const {
    return set >= asked_.first_part && set < asked_.end_part;
  }
  template <class Use>
  static void each_set(const EdgeCalls& calls, std::uint32_t thread, const Use& use);
  [[nodiscard]] std::vector<Stretch> stretches_of(std::span<const EdgeCalls> calls);
  [[nodiscard]] std::vector<CallSubset> divide(std::span<const Stretch> stretches) const;
  template <class Use>
  void each_block(std::span<CallSubset> parts, const Use& use) const;
  void count(CallSubset& part, const EdgeCalls& calls, const cache::BlockEntry& entry) const;
  void count_again(CallSubset& part, const EdgeCalls& calls, const cache::BlockEntry& entry) const;
  void read_again(std::span<CallSubset> parts);

  const cache::CallCache& store_;
  cache::BlockReader reader_; // that each part has a copy of
  Sets asked_;
  std::vector<Set> sets_;
  std::vector<std::uint64_t> most_; // calls of each set, as far as the directory tells
};

} // namespace ptlens::measure
