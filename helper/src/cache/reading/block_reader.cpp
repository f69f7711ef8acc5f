// Whole columns are decoded, then reduced to the calls that count.
#include "cache/reading/block_reader.hpp"

#include "cache/format/format.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace ptlens::cache {

// Counts the states, and marks in taken_ the calls that are accepted.
void BlockReader::find_admitted(const BlockEntry& entry) {
  states_ = {};
  taken_.clear();
  const unsigned any = std::reduce(flags_.begin(), flags_.end(), 0U, std::bit_or<>());
  if (filter_.accepts_all_complete() && (any & state_bits) == 0) {
    states_[0] = entry.calls;
    return;
  }
  taken_.resize(entry.calls);
  for (std::size_t i = 0; i < entry.calls; ++i) {
    const bool accepted = (filter_.calls == nullptr ||
                           filter_.calls->has(entry.thread, stacks::CallId{block_orders_[i]})) &&
                          (filter_.made_in == nullptr ||
                           filter_.made_in->has(entry.thread, stacks::CallId{block_parents_[i]}));
    const stacks::CallState state = state_of(flags_[i]);
    states_.at(static_cast<std::size_t>(state)) += accepted ? 1 : 0;
    taken_[i] = accepted && filter_.states.has(state) && has_latency(flags_[i]) ? 1 : 0;
  }
  if (states_[0] == entry.calls && filter_.states.has(stacks::CallState::complete)) {
    taken_.clear();
  }
}

template <class T>
void BlockReader::keep_taken(std::vector<T>& column) {
  if (taken_.empty()) {
    return;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    column[kept] = column[i];
    kept += taken_[i];
  }
  column.resize(kept);
}

void BlockReader::read_away(const BlockEntry& entry, const Block& block) {
  if (entry.extras == 0) {
    return;
  }
  std::uint32_t extra = 0;
  std::uint32_t at = 0;
  for (std::size_t i = 0; i < entry.calls && extra < entry.extras; ++i) {
    const bool taken = taken_.empty() || taken_[i] != 0;
    if ((flags_[i] & extra_bit) != 0) {
      if (taken) {
        away_.push_back({.at = at,
                         .switches = static_cast<std::uint32_t>(block.switches[extra]),
                         .latency = block_latencies_[i],
                         .outside = block.outside[extra],
                         .blocked = block.blocked[extra],
                         .preempted = block.preempted[extra],
                         .removed = filter_.raw ? 0 : block.removed[extra]});
      }
      ++extra;
    }
    at += taken ? 1 : 0;
  }
}

bool BlockReader::read(const BlockEntry& entry, Columns columns) {
  const auto block = cache_.block(entry);
  if (!block) {
    return false;
  }
  away_.clear();
  const bool with_marks = columns == Columns::nested || columns == Columns::timed;
  if (!with_marks && filter_.accepts_all_complete() && entry.extras == 0 &&
      (block->flags.constant().value_or(state_bits) & state_bits) == 0) {
    states_ = {entry.calls, 0, 0};
    taken_.clear();
    block->latency.read(sized_for(entry, latencies_));
    block->uncertainty.read(sized_for(entry, uncertainties_));
    if (columns == Columns::figures) {
      block->read_children(latencies_, sized_for(entry, children_));
    }
    return true;
  }
  block->flags.read(sized_for(entry, flags_));
  if (filter_.raw) {
    block->read_walls(entry, sized_for(entry, block_latencies_));
  } else {
    block->latency.read(sized_for(entry, block_latencies_));
  }
  if (filter_.calls != nullptr || filter_.made_in != nullptr) {
    block->read_orders(entry, sized_for(entry, block_orders_));
  }
  if (filter_.made_in != nullptr) {
    block->distance.read(sized_for(entry, block_parents_));
    for (std::size_t i = 0; i < entry.calls; ++i) {
      const std::uint32_t away = block_parents_[i];
      block_parents_[i] = away == 0 ? index_of(stacks::CallId::none) : block_orders_[i] - away;
    }
  }
  find_admitted(entry);
  if (states_[0] + states_[1] + states_[2] == 0) {
    return false;
  }
  if (columns == Columns::figures) {
    children_.resize(entry.calls);
    if (filter_.raw) {
      block->latency.read(sized_for(entry, latencies_));
    }
    block->read_children(filter_.raw ? latencies_ : block_latencies_, children_);
    keep_taken(children_);
  }
  if (columns != Columns::ranked) {
    read_away(entry, *block);
  }
  if (columns == Columns::timed) {
    block->read_starts(entry, sized_for(entry, starts_));
    keep_taken(starts_);
    block->read_walls(entry, sized_for(entry, walls_));
    keep_taken(walls_);
  }
  if (with_marks) {
    inner_.resize(entry.calls);
    std::ranges::transform(flags_, inner_.begin(), [](std::uint8_t flags) {
      return static_cast<std::uint8_t>(flags & inner_bit);
    });
    keep_taken(inner_);
  } else {
    block->uncertainty.read(sized_for(entry, uncertainties_));
    keep_taken(uncertainties_);
  }
  latencies_.swap(block_latencies_);
  keep_taken(latencies_);
  return true;
}

} // namespace ptlens::cache
