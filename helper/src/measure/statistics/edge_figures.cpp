// Each block is read once, and a second time where a percentile of a large set is in a bucket of
// several values.
#include "measure/statistics/edge_figures.hpp"

#include "base/parallel.hpp"
#include "cache/writing/edge_tally.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace ptlens::measure {

namespace {

using Columns = cache::BlockReader::Columns;

} // namespace

EdgeFigures::EdgeFigures(const cache::CallCache& cache, const cache::CallFilter& filter,
                         const Sets& sets)
    : cache_(cache), reader_(cache, filter), raw_(filter.raw), requested_(sets), sets_(sets.count),
      most_(sets.count) {}

// Calls `use` with the number of each set that contains the calls.
template <class Use>
void EdgeFigures::each_set(const EdgeCalls& calls, std::uint32_t thread, const Use& use) const {
  if (calls.set != no_set) {
    use(calls.set);
  }
  if (calls.threads != no_set) {
    use(calls.threads + (thread < requested_.rows.size() ? requested_.rows[thread] : thread));
  }
}

void EdgeFigures::Set::begin(std::uint64_t most) {
  if (ranks.empty()) {
    ranks.emplace_back(percentile_shares, most);
    ranks.emplace_back(uncertainty_shares, most);
  }
}

void EdgeFigures::Set::add(Set other) {
  for (std::size_t state = 0; state < states.size(); ++state) {
    states.at(state) += other.states.at(state);
  }
  tally.add(other.tally);
  for (std::size_t width = 0; width < away_widths.size(); ++width) {
    away_widths.at(width) += other.away_widths.at(width);
  }
  if (ranks.empty()) {
    ranks = std::move(other.ranks);
    return;
  }
  for (std::size_t i = 0; i < other.ranks.size(); ++i) {
    ranks[i].add(other.ranks[i]);
  }
}

// Also counts the calls that each set may contain.
std::vector<EdgeFigures::Stretch> EdgeFigures::stretches_of(std::span<const EdgeCalls> calls) {
  constexpr std::size_t most_blocks = 16;
  std::vector<Stretch> stretches;
  for (const EdgeCalls& each : calls) {
    auto left = cache_.blocks(each.edge);
    for (const cache::BlockEntry& entry : left) {
      each_set(each, entry.thread, [&](std::uint32_t set) { most_[set] += entry.calls; });
      most_[0] += is_subset(each.set) ? entry.calls : 0;
    }
    while (!left.empty()) {
      const std::size_t count = std::min(left.size(), most_blocks);
      stretches.push_back({.calls = &each, .blocks = left.first(count)});
      left = left.subspan(count);
    }
  }
  return stretches;
}

// Calls `use` with each share, and the calls and the entry of each of its blocks, one thread per
// share.
template <class Use>
void EdgeFigures::each_block(std::span<Share> shares, const Use& use) const {
  do_parts(shares.size(), [&](std::size_t number) {
    for (const Stretch& stretch : shares[number].stretches) {
      for (std::size_t at = 0; at < stretch.blocks.size(); ++at) {
        if (at + 1 < stretch.blocks.size()) {
          cache_.prefetch(stretch.blocks[at + 1]);
        }
        use(shares[number], *stretch.calls, stretch.blocks[at]);
      }
    }
  });
}

void EdgeFigures::count(Share& share, const EdgeCalls& calls,
                        const cache::BlockEntry& entry) const {
  cache::BlockReader& reader = share.reader;
  if (!reader.read(entry, Columns::figures)) {
    return;
  }
  const Tally tally = cache::tally_of(reader);
  each_set(calls, entry.thread, [&](std::uint32_t number) {
    Set& set = share.sets[number];
    set.begin(most_[number]);
    for (std::size_t state = 0; state < set.states.size(); ++state) {
      set.states.at(state) += reader.states().at(state);
    }
    set.tally.add(tally);
    set.ranks[0].add(reader.latencies());
    set.ranks[1].add(reader.uncertainties());
    if (number >= requested_.with_histogram && !is_subset(number)) {
      return;
    }
    for (const cache::AwayCall& call : reader.away()) {
      set.away_widths.at(static_cast<std::size_t>(std::bit_width(call.latency))) +=
          call.was_off_cpu() ? 1 : 0;
    }
  });
}

// Reads the values that the sets need a second time, after aim().
void EdgeFigures::count_again(Share& share, const EdgeCalls& calls,
                              const cache::BlockEntry& entry) const {
  const auto each = [&](const auto& use) {
    const auto use_again = [&](std::uint32_t number) {
      if (sets_[number].any_again()) {
        use(number);
      }
    };
    each_set(calls, entry.thread, use_again);
    if (is_subset(calls.set)) {
      use_again(0);
    }
  };
  bool any = false;
  each([&](std::uint32_t) { any = true; });
  const auto block = any ? cache_.block(entry) : std::nullopt;
  if (!block) {
    return;
  }
  const cache::Column::Bounds latencies = block->latency.bounds();
  const cache::Column::Bounds uncertainties = block->uncertainty.bounds();
  bool wanted = raw_; // their bounds are not stored
  each([&](std::uint32_t number) {
    const Set& set = sets_[number];
    wanted =
        wanted || (set.again && set.ranks[0].wants(latencies.least, latencies.most)) ||
        (set.uncertainties_again && set.ranks[1].wants(uncertainties.least, uncertainties.most));
  });
  cache::BlockReader& reader = share.reader;
  if (!wanted || !reader.read(entry, Columns::ranked)) {
    return;
  }
  each([&](std::uint32_t number) {
    Set& set = share.sets[number];
    if (set.ranks.empty()) {
      set.ranks = sets_[number].ranks;
    }
    if (sets_[number].again) {
      set.ranks[0].add_again(reader.latencies());
    }
    if (sets_[number].uncertainties_again) {
      set.ranks[1].add_again(reader.uncertainties());
    }
  });
}

// Divides the stretches, which must outlive the result, into shares.
std::vector<EdgeFigures::Share> EdgeFigures::divide(std::span<const Stretch> stretches) const {
  constexpr std::size_t stretches_per_share = 4;
  const std::size_t count = parts_of(stretches.size(), stretches_per_share);
  std::vector<Share> shares;
  shares.reserve(count);
  for (std::size_t number = 0; number < count; ++number) {
    const std::size_t begin = number * stretches.size() / count;
    const std::size_t end = (number + 1) * stretches.size() / count;
    shares.push_back(
        {.stretches = stretches.subspan(begin, end - begin), .reader = reader_, .sets = {}});
  }
  return shares;
}

// Reads the blocks again, for the values that the sets still need.
void EdgeFigures::read_again(std::span<Share> shares) {
  each_block(shares, [this](Share& share, const EdgeCalls& each, const cache::BlockEntry& entry) {
    count_again(share, each, entry);
  });
  for (const Share& share : shares) {
    for (const auto& [number, set] : share.sets) {
      for (std::size_t rank = 0; rank < set.ranks.size(); ++rank) {
        sets_[number].ranks[rank].add_again(set.ranks[rank]);
      }
    }
  }
}

std::vector<SetFigures> EdgeFigures::read(std::span<const EdgeCalls> calls) {
  const std::vector<Stretch> stretches = stretches_of(calls);
  std::vector<Share> shares = divide(stretches);
  each_block(shares, [this](Share& share, const EdgeCalls& each, const cache::BlockEntry& entry) {
    count(share, each, entry);
  });
  for (Share& share : shares) {
    for (auto& [number, set] : share.sets) {
      sets_[number].add(std::move(set));
    }
    share.sets.clear();
  }
  for (std::size_t number = 0; number < sets_.size(); ++number) {
    sets_[number].begin(most_[number]);
  }
  for (std::uint32_t set = requested_.first_subset; set < requested_.end_subset; ++set) {
    sets_[0].add(sets_[set]);
  }
  bool again = false;
  for (Set& set : sets_) {
    set.again = set.ranks[0].aim();
    set.uncertainties_again = set.ranks[1].aim();
    again = again || set.any_again();
  }
  if (again) {
    read_again(shares);
  }
  std::vector<SetFigures> result;
  result.reserve(sets_.size());
  for (Set& set : sets_) {
    SetFigures& made = result.emplace_back();
    made.states = set.states;
    if (result.size() <= requested_.with_histogram) {
      WidthCounts widths{};
      set.ranks[0].each_width(
          [&](unsigned width, std::uint64_t count) { widths.at(width) += count; });
      made.histogram = buckets_of(widths, set.away_widths);
    }
    made.figures = figures_of(set.tally, {set.ranks[0], set.ranks[1]});
  }
  return result;
}

void EdgeFigures::cover(const EdgeCalls& calls, std::uint32_t thread, WideSum on_cpu) {
  each_set(calls, thread, [&](std::uint32_t set) { sets_[set].tally.covered_on_cpu += on_cpu; });
}

} // namespace ptlens::measure
