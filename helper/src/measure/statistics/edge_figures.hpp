// Figures of sets of cached calls, computed from blocks without a table of calls and without
// sorting. A set consists of whole edges, or of one thread's calls on them. All cores read the
// blocks. cache::edge_tallies() does the same for single edges.
#pragma once

#include "cache/reading/block_reader.hpp"
#include "measure/statistics/statistics.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace ptlens::measure {

inline constexpr std::uint32_t no_set = UINT32_MAX;

// The calls of an edge, and the sets that they belong to.
struct EdgeCalls {
  cache::EdgeId edge{};
  std::uint32_t set = no_set;
  // The calls of thread t belong to the set `threads` + Sets::rows[t] as well.
  std::uint32_t threads = no_set;
};

struct SetFigures {
  std::array<std::uint64_t, 3> states{}; // calls by state
  Figures figures;
  std::vector<Bucket> histogram; // empty unless requested
};

// The sets to count.
struct Sets {
  std::uint32_t count = 0;
  std::uint32_t with_histogram = 0; // the sets with lower numbers get a histogram
  // The sets in [first_subset, end_subset) are subsets of set 0.
  std::uint32_t first_subset = 0;
  std::uint32_t end_subset = 0;
  std::span<const std::uint32_t> rows = {}; // by thread; empty: each thread is its own row
};

class EdgeFigures {
public:
  EdgeFigures(const cache::CallCache& cache, const cache::CallFilter& filter, const Sets& sets);

  // Subtracts the time on a CPU of nested calls, in ns, from the outermost time of the sets of the
  // edge and thread. Must be called before read().
  void cover(const EdgeCalls& calls, std::uint32_t thread, WideSum on_cpu);

  [[nodiscard]] std::vector<SetFigures> read(std::span<const EdgeCalls> calls);

private:
  struct Set {
    std::array<std::uint64_t, 3> states{};
    Tally tally;
    WidthCounts away_widths{};
    std::vector<cache::Ranks> ranks; // latencies, uncertainties; none before the first call
    bool again = false;              // the latencies must be read again
    bool uncertainties_again = false;

    // Prepares for at most so many calls.
    void begin(std::uint64_t most);
    // Adds a set of calls that begin() accounted for.
    void add(Set other);
    [[nodiscard]] bool any_again() const { return again || uncertainties_again; }
  };
  struct Stretch { // consecutive blocks of an edge
    const EdgeCalls* calls = nullptr;
    std::span<const cache::BlockEntry> blocks;
  };
  // The blocks that one worker reads, and its results.
  struct Share {
    std::span<const Stretch> stretches;
    cache::BlockReader reader;
    std::unordered_map<std::uint32_t, Set> sets; // by number, those with calls
  };

  [[nodiscard]] bool is_subset(std::uint32_t set) const {
    return set >= requested_.first_subset && set < requested_.end_subset;
  }
  template <class Use>
  void each_set(const EdgeCalls& calls, std::uint32_t thread, const Use& use) const;
  [[nodiscard]] std::vector<Stretch> stretches_of(std::span<const EdgeCalls> calls);
  [[nodiscard]] std::vector<Share> divide(std::span<const Stretch> stretches) const;
  template <class Use>
  void each_block(std::span<Share> shares, const Use& use) const;
  void count(Share& share, const EdgeCalls& calls, const cache::BlockEntry& entry) const;
  void count_again(Share& share, const EdgeCalls& calls, const cache::BlockEntry& entry) const;
  void read_again(std::span<Share> shares);

  const cache::CallCache& cache_;
  cache::BlockReader reader_; // each share uses a copy of it
  bool raw_;
  Sets requested_;
  std::vector<Set> sets_;
  std::vector<std::uint64_t> most_; // by set: an upper bound of its calls, from the directory
};

} // namespace ptlens::measure
