// Figures of sets of calls of a store, straight from its blocks: nothing is gathered and nothing
// sorted. A set is made of whole edges, or of what one thread did on them. Many blocks are read by
// all cores.
#pragma once

#include "base/large_pages.hpp"
#include "measure/block_reader.hpp"
#include "measure/statistics.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
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

struct TimedCall {
  std::uint64_t start = 0;
  std::uint64_t latency = 0;
  std::uint64_t on_cpu = 0;
  std::uint32_t edge = 0; // index

  // What begins with another and is longer lies around it.
  friend bool operator<(const TimedCall& one, const TimedCall& other) {
    return one.start != other.start ? one.start < other.start : one.latency > other.latency;
  }
};

using TimedCalls = std::vector<TimedCall, LargePages<TimedCall>>;

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
    std::array<std::uint64_t, 3> states{};
    Tally tally;
    WidthCounts away_widths{};
    std::vector<Ranks> ranks; // latencies, resolutions; none before the first call
    bool again = false;       // the latencies have to be read again
    bool resolutions_again = false;

    // At most so many calls come.
    void begin(std::uint64_t most);
    // Of no more calls than this one has begun with; where it has not, of as many as it would.
    void add(Set part);
    [[nodiscard]] bool any_again() const { return again || resolutions_again; }
  };
  struct Stretch { // of the blocks of an edge
    const EdgeCalls* calls = nullptr;
    std::span<const store::BlockEntry> blocks;
  };
  // What one thread reads, and what it makes of it.
  struct Part {
    std::span<const Stretch> stretches;
    std::vector<BlockReader> readers;            // one a group
    std::unordered_map<std::uint32_t, Set> sets; // those that it has calls of
  };

  using GroupedFunction = std::pair<std::uint32_t, std::uint32_t>; // group, function
  [[nodiscard]] GroupedFunction function_of(const EdgeCalls& calls) const {
    return {calls.group, store_.edge(calls.edge).function};
  }
  [[nodiscard]] bool is_part(std::uint32_t set) const {
    return set >= asked_.first_part && set < asked_.end_part;
  }
  struct Covering;
  struct TimedBlock;
  [[nodiscard]] std::vector<Covering>
  coverings_of(const std::vector<std::vector<const EdgeCalls*>>& functions) const;
  template <class Wanted>
  [[nodiscard]] std::vector<TimedBlock> blocks_of(std::span<const Covering> coverings,
                                                  const Wanted& wanted) const;
  template <class Found, class Use>
  [[nodiscard]] std::vector<Found> read_timed(std::span<const Covering> coverings,
                                              std::span<const TimedBlock> blocks,
                                              const Use& use) const;
  void find_inner_starts(std::span<Covering> coverings) const;
  static void add_timed(const Covering& covering, const BlockReader& reader, std::uint32_t edge,
                        TimedCalls& timed);
  void add_covered(Covering& covering);
  template <class Use>
  static void each_set(const EdgeCalls& calls, std::uint32_t thread, const Use& use);
  [[nodiscard]] std::vector<Stretch> stretches_of(std::span<const EdgeCalls> calls);
  [[nodiscard]] std::vector<Part> divide(std::span<const Stretch> stretches) const;
  template <class Use>
  void each_block(std::span<Part> parts, const Use& use) const;
  void count(Part& part, const EdgeCalls& calls, const store::BlockEntry& entry) const;
  void count_again(Part& part, const EdgeCalls& calls, const store::BlockEntry& entry) const;
  void read_again(std::span<Part> parts);

  const store::CallStore& store_;
  std::vector<BlockReader> readers_;
  Sets asked_;
  std::vector<Set> sets_;
  std::vector<std::uint64_t> most_; // calls of each set, as far as the directory tells
};

} // namespace ptlens::measure
