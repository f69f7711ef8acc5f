#include "measure/timeline/typical_calls.hpp"

#include "base/distance.hpp"
#include "base/parallel.hpp"
#include "cache/reading/edge_blocks.hpp"
#include "measure/statistics/value_at_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

namespace ptlens::measure {

namespace {

std::vector<cache::EdgeBlock> blocks_of(const Measurement& measurement,
                                        stacks::FunctionId function) {
  return cache::blocks_to(*measurement.cache, {&function, 1});
}

// Reads where the calls of a block are stored, and when they ran.
class StoredCalls {
public:
  void read(const cache::EdgeBlock& source, const cache::Block& block) {
    source_ = source;
    const cache::BlockEntry& entry = *source.entry;
    block.read_starts(entry, sized_for(entry, starts_));
    block.read_walls(entry, sized_for(entry, walls_));
    block.read_orders(entry, sized_for(entry, orders_));
    before_.assign(entry.calls, 0);
    block.each_extra(entry, [&](std::size_t call, std::size_t extra) {
      before_[call] = static_cast<std::uint32_t>(block.before[extra]);
    });
  }

  [[nodiscard]] StoredCall at(std::uint32_t call) const {
    return {.ref = {.block = source_.entry, .edge = source_.edge, .at = call},
            .start = starts_[call],
            .end = starts_[call] + walls_[call],
            .order = orders_[call],
            .before = before_[call]};
  }

private:
  cache::EdgeBlock source_;
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint64_t> walls_;
  std::vector<std::uint32_t> orders_;
  std::vector<std::uint32_t> before_;
};

bool is_same(const cache::CallRef& one, const cache::BlockEntry& entry, std::uint32_t call) {
  return one.block == &entry && one.at == call;
}

// Reads the latencies of the complete calls of one block after the other.
struct CompleteCalls {
  std::vector<std::uint64_t> latencies = {}; // of all blocks so far
  std::vector<std::uint64_t> values = {};    // of the block
  std::vector<std::uint8_t> flags = {};

  void read(const cache::BlockEntry& entry, const cache::Block& block) {
    block.latency.read(sized_for(entry, values));
    block.flags.read(sized_for(entry, flags));
  }
  [[nodiscard]] bool is_complete(std::uint32_t call) const {
    return cache::state_of(flags[call]) == stacks::CallState::complete;
  }
};

constexpr std::size_t calls_per_part = 250'000;

std::size_t count_calls(const std::vector<cache::EdgeBlock>& blocks) {
  std::size_t calls = 0;
  for (const cache::EdgeBlock& each : blocks) {
    calls += each.entry->calls;
  }
  return calls;
}

struct Middle { // latencies, ns
  std::uint64_t low = 0;
  std::uint64_t median = 0;
  std::uint64_t high = 0;
};

// Returns the percentiles of the complete calls other than `call`; nothing where there are none.
std::optional<Middle> middle_of(const cache::CallCache& cache,
                                const std::vector<cache::EdgeBlock>& blocks,
                                const StoredCall& call) {
  std::vector<CompleteCalls> parts(parts_of(count_calls(blocks), calls_per_part));
  cache::each_block(
      cache, blocks, parts,
      [&](CompleteCalls& part, const cache::EdgeBlock& source, const cache::Block& block) {
        part.read(*source.entry, block);
        for (std::uint32_t at = 0; at < source.entry->calls; ++at) {
          if (part.is_complete(at) && !is_same(call.ref, *source.entry, at)) {
            part.latencies.push_back(part.values[at]);
          }
        }
      });
  std::vector<std::uint64_t> latencies = std::move(parts.front().latencies);
  for (const CompleteCalls& part : std::span(parts).subspan(1)) {
    latencies.insert(latencies.end(), part.latencies.begin(), part.latencies.end());
  }
  if (latencies.empty()) {
    return std::nullopt;
  }
  const RankedValues ranked(latencies);
  const auto percentile = [&](double share) {
    const double rank = std::ceil(share * static_cast<double>(latencies.size()));
    return ranked.at(static_cast<std::size_t>(std::max(rank, 1.0)) - 1);
  };
  return Middle{.low = percentile(0.4), .median = percentile(0.5), .high = percentile(0.6)};
}

// How well a typical call suits: the least first.
struct Candidate {
  bool other_caller = false;
  bool other_thread = false;
  std::uint64_t distance = 0; // of its latency from the median
  std::uint64_t latency = 0;
  StoredCall call;

  [[nodiscard]] auto fit() const {
    return std::tuple(other_caller, other_thread, distance, latency);
  }
  [[nodiscard]] auto rank() const { return std::pair(fit(), call.place()); }
};

// The best candidates so far, in order.
class Best {
public:
  explicit Best(std::size_t most) : most_(most) {}

  // Returns whether a call like this one, of that thread, that starts at `start` or later, may
  // belong to them.
  [[nodiscard]] bool may_take(const Candidate& like, std::uint32_t thread,
                              std::uint64_t start) const {
    return found_.size() < most_ ||
           std::tuple(like.fit(), thread, start) <= std::tuple(found_.back().fit(),
                                                               found_.back().call.ref.block->thread,
                                                               found_.back().call.start);
  }
  void take(const Candidate& candidate) {
    found_.insert(std::ranges::upper_bound(found_, candidate.rank(), {}, &Candidate::rank),
                  candidate);
    found_.resize(std::min(found_.size(), most_));
  }
  [[nodiscard]] const std::vector<Candidate>& found() const { return found_; }

private:
  std::size_t most_;
  std::vector<Candidate> found_;
};

struct Search {
  explicit Search(std::size_t most) : best(most) {}

  Best best;
  CompleteCalls calls = {};
  StoredCalls stored = {};
};

} // namespace

Result<CallName> parse_call_name(std::string_view text) {
  CallName name;
  const char* const end = text.data() + text.size();
  const auto tid = std::from_chars(text.data(), end, name.tid);
  const bool has_colon = tid.ec == std::errc{} && tid.ptr != end && *tid.ptr == ':';
  const auto start = std::from_chars(has_colon ? tid.ptr + 1 : end, end, name.start);
  if (!has_colon || start.ec != std::errc{} || start.ptr != end || name.tid <= 0) {
    constexpr std::size_t shown = 100;
    return std::unexpected(Error{
        .kind = Error::Kind::bad_input,
        .message = fmt::format("not a call: \"{}\"", text.substr(0, shown)),
        .remedy =
            "write TID:START, with the fields tid and start of `ptlens calls` or of an example "
            "of `ptlens explain`"});
  }
  return name;
}

std::optional<StoredCall> find_call(const Measurement& measurement, stacks::FunctionId function,
                                    const CallName& name) {
  std::optional<StoredCall> found;
  StoredCalls stored;
  for (const cache::EdgeBlock& source : blocks_of(measurement, function)) {
    const cache::BlockEntry& entry = *source.entry;
    if (measurement.threads[entry.thread].tid != name.tid || name.start < entry.first_start ||
        name.start > entry.last_end) {
      continue;
    }
    const auto block = measurement.cache->block(entry);
    if (!block) {
      continue;
    }
    stored.read(source, *block);
    for (std::uint32_t at = 0; at < entry.calls; ++at) {
      const StoredCall call = stored.at(at);
      if (call.start == name.start && (!found || call.place() < found->place())) {
        found = call;
      }
    }
  }
  return found;
}

std::optional<std::uint64_t> nearest_start(const Measurement& measurement,
                                           stacks::FunctionId function, const CallName& name) {
  std::optional<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>> nearest;
  std::vector<std::uint64_t> starts;
  for (const cache::EdgeBlock& source : blocks_of(measurement, function)) {
    const cache::BlockEntry& entry = *source.entry;
    const auto block = measurement.threads[entry.thread].tid == name.tid
                           ? measurement.cache->block(entry)
                           : std::nullopt;
    if (!block) {
      continue;
    }
    block->read_starts(entry, sized_for(entry, starts));
    for (const std::uint64_t start : starts) {
      const std::tuple each(distance(start, name.start), entry.thread, start);
      nearest = std::min(nearest.value_or(each), each);
    }
  }
  return nearest ? std::optional(std::get<2>(*nearest)) : std::nullopt;
}

std::vector<StoredCall> typical_calls(const Measurement& measurement, stacks::FunctionId function,
                                      const StoredCall& call, std::size_t most) {
  const cache::CallCache& cache = *measurement.cache;
  const std::vector<cache::EdgeBlock> blocks = blocks_of(measurement, function);
  const auto middle = middle_of(cache, blocks, call);
  if (!middle) {
    return {};
  }
  std::vector<Search> parts(parts_of(count_calls(blocks), calls_per_part), Search(most));
  cache::each_block(cache, blocks, parts,
                    [&](Search& part, const cache::EdgeBlock& source, const cache::Block& block) {
                      const cache::BlockEntry& entry = *source.entry;
                      const auto bounds = block.latency.bounds();
                      Candidate like{.other_caller = cache.edge(source.edge).site !=
                                                     cache.edge(call.ref.edge).site,
                                     .other_thread = entry.thread != call.ref.block->thread,
                                     .call = {}};
                      if (bounds.most < middle->low || bounds.least > middle->high ||
                          !part.best.may_take(like, entry.thread, entry.first_start)) {
                        return;
                      }
                      part.calls.read(entry, block);
                      bool read = false;
                      for (std::uint32_t at = 0; at < entry.calls; ++at) {
                        like.latency = part.calls.values[at];
                        like.distance = distance(like.latency, middle->median);
                        if (like.latency < middle->low || like.latency > middle->high ||
                            !part.calls.is_complete(at) || is_same(call.ref, entry, at) ||
                            !part.best.may_take(like, entry.thread, entry.first_start)) {
                          continue;
                        }
                        if (!std::exchange(read, true)) {
                          part.stored.read(source, block);
                        }
                        like.call = part.stored.at(at);
                        part.best.take(like);
                      }
                    });
  Best best(most);
  for (const Search& part : parts) {
    for (const Candidate& each : part.best.found()) {
      best.take(each);
    }
  }
  std::vector<StoredCall> typical;
  for (const Candidate& each : best.found()) {
    if (each.other_caller == best.found().front().other_caller) {
      typical.push_back(each.call);
    }
  }
  return typical;
}

} // namespace ptlens::measure
