#include "measure/selection/reason_times.hpp"

#include "measure/places/innermost_calls.hpp"
#include "measure/places/wait_places.hpp"
#include "measure/selection/call_subset.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace ptlens::measure {

ReasonTimes::ReasonTimes(const Measurement& measurement,
                         std::span<const stacks::FunctionId> functions)
    : measurement_(measurement) {
  const auto* const read = measurement.waits == nullptr ? nullptr : &measurement.waits->get();
  if (read == nullptr || !*read) {
    return;
  }
  waits_ = (*read)->get();
  reasons_.reserve(waits_->all.size());
  std::vector<ThreadTime> points;
  for (const waits::Wait& wait : waits_->all) {
    reasons_.push_back(wait.reason);
    if (wait.reason == waits::Reason::unknown) {
      points.push_back({.tid = wait.tid, .time_ns = wait.begin});
    }
  }
  if (points.empty()) {
    return;
  }
  CallsNeeded needed(measurement);
  for (const stacks::FunctionId function : functions) {
    needed.add_calls_below(function);
  }
  const InnermostCalls innermost(measurement, needed.edges(), std::move(points));
  for (std::size_t at = 0; at < reasons_.size(); ++at) {
    if (reasons_[at] == waits::Reason::unknown) {
      reasons_[at] = place_of(measurement, *waits_, waits_->all[at], &innermost).reason;
    }
  }
}

void ReasonTimes::read(const cache::Block& block, const cache::BlockEntry& entry,
                       waits::Reason reason, std::span<std::uint64_t> out) const {
  std::vector<std::uint64_t> off_cpu(out.size());
  read_blocked(block, entry, out);
  read_preempted(block, entry, off_cpu);
  std::vector<std::uint64_t> starts(out.size());
  std::vector<std::uint64_t> walls(out.size());
  block.read_starts(entry, starts);
  block.read_walls(entry, walls);
  const std::int32_t tid = measurement_.threads[entry.thread].tid;
  for (std::size_t call = 0; call < out.size(); ++call) {
    const bool was_off = out[call] + off_cpu[call] > 0;
    out[call] = 0;
    if (!was_off || waits_ == nullptr) {
      continue;
    }
    const std::uint64_t begin = starts[call];
    const std::uint64_t end = begin + walls[call];
    for (const waits::Wait& wait : waits_->within(tid, begin, end)) {
      if (reasons_[static_cast<std::size_t>(&wait - waits_->all.data())] == reason) {
        out[call] += std::min(wait.end, end) - std::max(wait.begin, begin);
      }
    }
  }
}

} // namespace ptlens::measure
