// Blocks are read one after the other, and a second time where a rank is in a bucket of several
// values.
#include "cache/writing/edge_tally.hpp"

#include "base/cancellation.hpp"
#include "base/parallel.hpp"
#include "cache/format/value_range.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>

namespace ptlens::cache {
namespace {

using Columns = BlockReader::Columns;

struct Sums {
  std::uint64_t latency = 0;
  std::uint64_t squares = 0;
  std::uint64_t self = 0;
};

constexpr unsigned most_bits_of_squared = 32;

// Sums latencies below 2^32. There are so few that no sum overflows.
PTLENS_ALSO_FOR_AVX2 Sums sums_of(const std::uint64_t* latencies, const std::uint64_t* children,
                                  std::size_t count) {
  constexpr std::uint64_t low = 0xffffffff;
  Sums sums;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t latency = latencies[i];
    sums.latency += latency;
    sums.squares += (latency & low) * (latency & low);
    sums.self += latency > children[i] ? latency - children[i] : 0;
  }
  return sums;
}

std::uint64_t calls_of(std::span<const BlockEntry> blocks) {
  std::uint64_t calls = 0;
  for (const BlockEntry& entry : blocks) {
    calls += entry.calls;
  }
  return calls;
}

LargeEdge stored(EdgeId edge, const EdgeTally& made) {
  const Tally& tally = made.tally;
  return {.edge = edge,
          .calls = made.states,
          .least = tally.least,
          .most = tally.most,
          .latency = narrow(tally.latency),
          .squares = narrow(tally.squares),
          .squares_high = tally.squares_high,
          .blocked = narrow(tally.blocked),
          .preempted = narrow(tally.preempted),
          .on_cpu = narrow(tally.on_cpu),
          .self = narrow(tally.self),
          .outside = narrow(tally.outside),
          .off_cpu_calls = tally.off_cpu_calls,
          .switches = tally.switches,
          .removed = narrow(tally.removed),
          .uncertainty = narrow(tally.uncertainty),
          .latency_ranks = made.ranks.latencies,
          .uncertainty_ranks = made.ranks.uncertainties};
}

EdgeTally restored(const LargeEdge& large) {
  EdgeTally made;
  made.states = large.calls;
  made.tally = {.calls = large.calls[0],
                .least = large.least,
                .most = large.most,
                .latency = wide(large.latency),
                .squares = wide(large.squares),
                .squares_high = large.squares_high,
                .blocked = wide(large.blocked),
                .preempted = wide(large.preempted),
                .on_cpu = wide(large.on_cpu),
                .self = wide(large.self),
                .outside = wide(large.outside),
                .removed = wide(large.removed),
                .uncertainty = wide(large.uncertainty),
                .covered_on_cpu = 0,
                .off_cpu_calls = large.off_cpu_calls,
                .switches = large.switches};
  made.ranks.latencies = large.latency_ranks;
  made.ranks.uncertainties = large.uncertainty_ranks;
  return made;
}

// Tallies edges one after the other, in memory that it reuses.
class EdgeTallier {
public:
  // `forgets`: returns the pages of blocks to the system, as they are not read again soon.
  EdgeTallier(const CallCache& cache, const CallFilter& filter, bool forgets)
      : cache_(cache), reader_(cache, filter), forgets_(forgets) {}

  [[nodiscard]] EdgeTally tally(EdgeId edge) {
    const auto blocks = cache_.blocks(edge);
    const std::uint64_t calls = calls_of(blocks);
    EdgeTally made;
    Ranks latencies(percentile_shares, calls);
    Ranks uncertainties(uncertainty_shares, calls);
    each_block(blocks, Columns::figures, [&] {
      for (std::size_t state = 0; state < made.states.size(); ++state) {
        made.states.at(state) += reader_.states().at(state);
      }
      made.tally.add(tally_of(reader_));
      latencies.add(reader_.latencies());
      uncertainties.add(reader_.uncertainties());
    });
    const bool latencies_again = latencies.aim();
    const bool uncertainties_again = uncertainties.aim();
    if (latencies_again || uncertainties_again) {
      each_block(blocks, Columns::ranked, [&] {
        if (latencies_again) {
          latencies.add_again(reader_.latencies());
        }
        if (uncertainties_again) {
          uncertainties.add_again(reader_.uncertainties());
        }
      });
    }
    made.ranks = TalliedRanks(latencies, uncertainties);
    return made;
  }

private:
  template <class Use>
  void each_block(std::span<const BlockEntry> blocks, Columns columns, const Use& use) {
    for (std::size_t at = 0; at < blocks.size(); ++at) {
      if (at + 1 < blocks.size()) {
        cache_.prefetch(blocks[at + 1]);
      }
      if (reader_.read(blocks[at], columns)) {
        use();
      }
      constexpr std::uint64_t many = 32; // reading a block can map 2 MB
      if (forgets_ && ++read_ % many == 0) {
        cache_.forget_blocks();
      }
    }
  }

  const CallCache& cache_;
  BlockReader reader_;
  bool forgets_;
  std::uint64_t read_ = 0; // blocks
};

// Calls `use` with a tallier and each position in a list of edges, on all cores.
template <class Use>
void each_edge(const EdgeTallier& model, std::size_t edges, const Use& use) {
  constexpr std::size_t edges_per_part = 64;
  std::atomic<std::size_t> next = 0;
  do_parts(parts_of(edges, edges_per_part), [&](std::size_t) {
    EdgeTallier tallier(model);
    for (std::size_t at = next++; at < edges; at = next++) {
      use(tallier, at);
    }
  });
}

} // namespace

Tally tally_of(const BlockReader& block) {
  Tally tally;
  const auto latencies = block.latencies();
  const auto children = block.children();
  const ValueRange range = range_of(latencies);
  const auto bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(range.most)));
  if (!latencies.empty() && range.least >= 0 && bits < most_bits_of_squared &&
      2 * bits + static_cast<unsigned>(std::bit_width(latencies.size())) <= 64) {
    const Sums sums = sums_of(latencies.data(), children.data(), latencies.size());
    tally.calls = latencies.size();
    tally.least = static_cast<std::uint64_t>(range.least);
    tally.most = static_cast<std::uint64_t>(range.most);
    tally.latency = sums.latency;
    tally.squares = sums.squares;
    tally.self = sums.self;
  } else {
    for (std::size_t i = 0; i < latencies.size(); ++i) {
      const std::uint64_t latency = latencies[i];
      tally.add_latency(latency);
      tally.self += latency > children[i] ? latency - children[i] : 0;
    }
  }
  for (const std::uint64_t uncertainty : block.uncertainties()) {
    tally.uncertainty += uncertainty;
  }
  tally.on_cpu = tally.latency;
  for (const AwayCall& call : block.away()) {
    tally.on_cpu -= call.latency - call.on_cpu();
    tally.outside += call.outside;
    tally.removed += call.removed;
    tally.blocked += call.blocked;
    tally.preempted += call.preempted;
    tally.switches += call.switches;
    tally.off_cpu_calls += call.was_off_cpu() ? 1 : 0;
  }
  return tally;
}

std::vector<EdgeTally> edge_tallies(const CallCache& cache, const CallFilter& filter,
                                    std::span<const EdgeId> edges) {
  std::vector<EdgeTally> made(edges.size());
  each_edge(EdgeTallier(cache, filter, false), edges.size(),
            [&](EdgeTallier& tallier, std::size_t at) {
              const LargeEdge* const large =
                  filter.accepts_all_complete() ? cache.large_edge(edges[at]) : nullptr;
              made[at] = large != nullptr ? restored(*large) : tallier.tally(edges[at]);
            });
  return made;
}

std::vector<LargeEdge> large_edges(const CallCache& cache, std::uint64_t least_calls) {
  std::vector<EdgeId> large;
  for (const EdgeId edge : cache.edges()) {
    if (calls_of(cache.blocks(edge)) >= least_calls) {
      large.push_back(edge);
    }
  }
  std::vector<LargeEdge> made(large.size());
  each_edge(EdgeTallier(cache, {}, true), large.size(), [&](EdgeTallier& tallier, std::size_t at) {
    made[at] = stored(large[at], tallier.tally(large[at]));
  });
  return cache.damaged() || cancel_asked() ? std::vector<LargeEdge>() : made;
}

} // namespace ptlens::cache
