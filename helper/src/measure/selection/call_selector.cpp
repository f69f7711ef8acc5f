#include "measure/selection/call_selector.hpp"

namespace ptlens::measure {

CallSelector::CallSelector(const Measurement& measurement,
                           std::span<const stacks::FunctionId> functions,
                           const Selection& selection)
    : measurement_(measurement), selection_(selection), origin_(trace_start(measurement)),
      callers_(measurement, selection) {
  if (!selection.ancestors.empty()) {
    ancestors_.emplace(measurement, functions, selection);
  }
  if (!selection.calls.empty()) {
    counts_.emplace(measurement, functions, selection);
  }
  if (selection.needs_waits()) {
    reasons_ = std::make_shared<const ReasonTimes>(measurement, functions);
  }
}

void CallSelector::enter(std::uint32_t thread) {
  if (ancestors_) {
    ancestors_->enter(thread);
  }
  if (counts_) {
    counts_->enter(thread);
  }
}

std::span<const std::uint8_t>
CallSelector::judge(cache::EdgeId edge, const cache::BlockEntry& entry, const cache::Block& block) {
  const bool accepted = selection_.accepts_thread(measurement_.threads[entry.thread].tid) &&
                        callers_.accepts(measurement_.cache->edge(edge));
  accepted_.assign(entry.calls, accepted ? 1 : 0);
  if (accepted) {
    judge_figures(entry, block);
    if (needs_threads()) {
      judge_relatives(entry, block);
    }
  }
  if (selection_.complement) {
    for (std::uint8_t& call : accepted_) {
      call ^= 1;
    }
  }
  return accepted_;
}

// Clears the marks of the calls whose own figures do not fulfil a condition.
void CallSelector::judge_figures(const cache::BlockEntry& entry, const cache::Block& block) {
  values_.resize(entry.calls);
  const auto keep = [this](const Interval& interval) {
    const std::uint64_t width = interval.high - interval.low;
    for (std::size_t call = 0; call < values_.size(); ++call) {
      accepted_[call] &= static_cast<std::uint8_t>(values_[call] - interval.low <= width);
    }
  };
  if (selection_.latency.has_bounds()) {
    block.latency.read(std::span(values_));
    keep(selection_.latency);
  }
  if (selection_.time.has_bounds()) {
    block.read_starts(entry, values_);
    for (std::uint64_t& start : values_) {
      start = start > origin_ ? start - origin_ : 0;
    }
    keep(selection_.time);
  }
  for (const WaitCondition& waited : selection_.waited) {
    if (is_of_recorded_waits(waited.reason)) {
      reasons_->read(block, entry, *waited.reason, values_);
    } else if (waited.reason == blocked) {
      read_blocked(block, entry, values_);
    } else {
      read_preempted(block, entry, values_);
    }
    keep({.low = waited.least});
  }
}

// Clears the marks of the calls that were made in, or made, other calls than those asked for.
void CallSelector::judge_relatives(const cache::BlockEntry& entry, const cache::Block& block) {
  block.read_orders(entry, sized_for(entry, orders_));
  block.distance.read(sized_for(entry, distances_));
  for (std::size_t call = 0; call < orders_.size(); ++call) {
    if (accepted_[call] == 0) {
      continue;
    }
    const std::uint32_t distance = distances_[call];
    const stacks::CallId parent =
        distance == 0 ? stacks::CallId::none : stacks::CallId{orders_[call] - distance};
    if ((ancestors_ && !ancestors_->accepts(parent)) ||
        (counts_ && !counts_->accepts(stacks::CallId{orders_[call]}))) {
      accepted_[call] = 0;
    }
  }
}

} // namespace ptlens::measure
