// Calls are counted on their way into the cache.
#include "measure/report/watched_function.hpp"

#include <bit>

namespace ptlens::measure {

namespace {

constexpr auto first_after = std::chrono::seconds(1);
constexpr auto then_every = std::chrono::milliseconds(500);

} // namespace

class WatchedFunction::Counter final : public stacks::CallSink {
public:
  Counter(WatchedFunction& watched, stacks::CallSink& next) : watched_(&watched), next_(&next) {}

  void take(const stacks::ClosedCall& call) override {
    if (watched_->matches(call.function)) {
      watched_->count(call);
    }
    next_->take(call);
  }

private:
  WatchedFunction* watched_;
  stacks::CallSink* next_;
};

WatchedFunction::WatchedFunction(const Watch& watch, const stacks::Functions& functions,
                                 Clock::time_point begin)
    : watch_(&watch), functions_(&functions), due_(begin + first_after) {}

WatchedFunction::~WatchedFunction() = default;

stacks::CallSink& WatchedFunction::before(stacks::CallSink& next) {
  return *counters_.emplace_back(std::make_unique<Counter>(*this, next));
}

bool WatchedFunction::matches(stacks::FunctionId function) {
  while (!matches_.has(function) && matches_.size() < functions_->size()) {
    const auto one = std::span(*functions_).subspan(matches_.size(), 1);
    matches_.push_back(functions_named(one, watch_->selector, watch_->binary).empty() ? 0 : 1);
  }
  return matches_.has(function) && matches_[function] != 0;
}

void WatchedFunction::count(const stacks::ClosedCall& call) {
  Counts& counts = counts_[call.function];
  ++counts.states.at(static_cast<std::size_t>(call.state));
  if (call.state != stacks::CallState::complete) {
    return;
  }
  counts.complete.add_latency(call.latency);
  counts.complete.blocked += call.blocked;
  counts.complete.preempted += call.preempted;
  const auto width = static_cast<std::size_t>(std::bit_width(call.latency));
  ++counts.widths.at(width);
  counts.off_cpu_widths.at(width) += call.switches > 0 || call.blocked + call.preempted > 0 ? 1 : 0;
}

std::optional<PartialReport> WatchedFunction::report() const {
  const auto named = functions_named(*functions_, watch_->selector, watch_->binary);
  if (named.size() != 1) {
    return std::nullopt;
  }
  PartialReport report;
  report.function = (*functions_)[named.front()];
  const auto found = counts_.find(named.front());
  if (found == counts_.end()) {
    return report;
  }
  const Counts& counts = found->second;
  const Tally& complete = counts.complete;
  report.complete = counts.states.at(static_cast<std::size_t>(stacks::CallState::complete));
  report.incomplete = counts.states.at(static_cast<std::size_t>(stacks::CallState::incomplete));
  report.unwound = counts.states.at(static_cast<std::size_t>(stacks::CallState::unwound));
  report.mean = mean_of(complete.latency, complete.calls);
  report.min = complete.calls == 0 ? 0 : complete.least;
  report.max = complete.most;
  report.total = clamp_to_64_bits(complete.latency);
  report.off_cpu = clamp_to_64_bits(complete.blocked + complete.preempted);
  report.histogram = buckets_of(counts.widths, counts.off_cpu_widths);
  return report;
}

void WatchedFunction::report_if_due(Clock::time_point now, std::uint64_t done_bytes,
                                    std::uint64_t total_bytes) {
  if (now < due_) {
    return;
  }
  due_ = now + then_every;
  if (auto known = report()) {
    known->done_bytes = done_bytes;
    known->total_bytes = total_bytes;
    watch_->listener(*known);
  }
}

} // namespace ptlens::measure
