#include "measure/selection/call_stream.hpp"

#include "base/cancellation.hpp"
#include "measure/selection/select_calls.hpp"

#include <algorithm>
#include <tuple>

namespace ptlens::measure {

CallStream::CallStream(const Measurement& measurement,
                       std::span<const stacks::FunctionId> functions, const Selection& selection,
                       std::size_t rows)
    : cache_(*measurement.cache), states_(selection.states_or(stacks::CallStates::all())),
      rows_(rows) {
  if (!selection.accepts_all()) {
    accepted_ = select_calls(measurement, functions, selection, states_);
  }
  std::uint64_t calls = 0;
  for (const cache::EdgeBlock& source : cache::blocks_to(cache_, functions)) {
    const cache::BlockEntry& entry = *source.entry;
    if (cache_.block(entry)) {
      sources_.push_back(source);
      begin_ = std::min(begin_, entry.first_start);
      last_ = std::max(last_, entry.last_end);
      calls += entry.calls;
    }
  }
  if (calls > 0) {
    const std::uint64_t windows = calls / rows_ + 1;
    length_ = std::max<std::uint64_t>((last_ - begin_) / windows, 1);
  }
}

std::optional<CallSubset> CallStream::next() {
  while (begin_ <= last_ && !sources_.empty() && !cancel_asked()) {
    const std::uint64_t end = length_ < UINT64_MAX - begin_ ? begin_ + length_ : UINT64_MAX;
    if (!find(end)) {
      length_ /= 2;
      continue;
    }
    begin_ = end;
    if (end == UINT64_MAX) {
      sources_.clear();
    }
    if (found_.size() < rows_ / 4 && length_ < UINT64_MAX / 2) {
      length_ *= 2;
    }
    if (found_.empty()) {
      continue;
    }
    std::ranges::sort(found_, {}, [](const Found& each) {
      return std::tuple(each.start, each.thread, each.order);
    });
    std::vector<cache::CallRef> calls;
    calls.reserve(found_.size());
    for (const Found& each : found_) {
      calls.push_back(each.call);
    }
    return CallSubset(cache::read_calls(cache_, calls));
  }
  return std::nullopt;
}

// Finds the calls that start in the window. Returns false where they are too many, and the window
// can be made shorter.
bool CallStream::find(std::uint64_t end) {
  found_.clear();
  for (const cache::EdgeBlock& source : sources_) {
    if (source.entry->first_start < end && source.entry->last_end >= begin_) {
      find_in(source, end);
      if (found_.size() > rows_ && length_ > 1) {
        return false;
      }
    }
  }
  return true;
}

void CallStream::find_in(const cache::EdgeBlock& source, std::uint64_t end) {
  const cache::BlockEntry& entry = *source.entry;
  const auto block = cache_.block(entry);
  if (!block) {
    return;
  }
  block->read_starts(entry, sized_for(entry, starts_));
  block->read_orders(entry, sized_for(entry, orders_));
  block->flags.read(sized_for(entry, flags_));
  for (std::uint32_t call = 0; call < entry.calls; ++call) {
    if (starts_[call] >= begin_ && (starts_[call] < end || end == UINT64_MAX) &&
        states_.has(cache::state_of(flags_[call])) &&
        (!accepted_ || accepted_->has(entry.thread, stacks::CallId{orders_[call]}))) {
      found_.push_back({.start = starts_[call],
                        .thread = entry.thread,
                        .order = orders_[call],
                        .call = {.block = &entry, .edge = source.edge, .at = call}});
    }
  }
}

} // namespace ptlens::measure
