// The own waiting of a function consists of the waits whose innermost measured call is one of its
// calls.
#include "measure/explain/wait_causes.hpp"

#include "base/parallel.hpp"
#include "measure/explain/slow_and_typical.hpp"
#include "measure/places/innermost_calls.hpp"
#include "measure/selection/call_selector.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/waits/wait_rows.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace ptlens::measure {
namespace {

using WaitKey = std::pair<stacks::FunctionId, bool>; // whose own time, whether preempted

// Returns the wait that ends the component's path.
std::optional<WaitKey> wait_of(const Component& component) {
  const Part& last = component.path.empty() ? component.part : component.path.back();
  if (last.key.kind != PartKind::blocked && last.key.kind != PartKind::preempted) {
    return std::nullopt;
  }
  return WaitKey{last.key.function, last.key.kind == PartKind::preempted};
}

std::optional<WaitRow> main_row(WaitRows& rows) {
  WaitReport report;
  rows.finish(report);
  if (report.rows.empty() || 2 * report.rows.front().totals.total <= report.totals.total) {
    return std::nullopt;
  }
  return std::move(report.rows.front());
}

struct SlowCall {
  std::uint32_t thread = 0;
  std::uint64_t begin = 0;
  std::uint32_t order = 0;
  std::uint64_t end = 0;

  auto operator<=>(const SlowCall&) const = default;
};

// Reads the slow calls of one block after the other.
class SlowCalls {
public:
  SlowCalls(const CallSet& slow, stacks::CallStates states) : slow_(&slow), states_(states) {}

  void take(const cache::BlockEntry& entry, const cache::Block& block,
            std::span<const std::uint8_t> accepted) {
    const cache::Column::Bounds bounds = block.latency.bounds();
    if (bounds.most < slow_->low || bounds.least > slow_->high) {
      return;
    }
    block.latency.read(sized_for(entry, latencies_));
    block.flags.read(sized_for(entry, flags_));
    block.read_starts(entry, sized_for(entry, starts_));
    block.read_walls(entry, sized_for(entry, walls_));
    block.read_orders(entry, sized_for(entry, orders_));
    for (std::size_t call = 0; call < entry.calls; ++call) {
      if (accepted[call] != 0 && states_.has(cache::state_of(flags_[call])) &&
          latencies_[call] >= slow_->low && latencies_[call] <= slow_->high) {
        found_.push_back({.thread = entry.thread,
                          .begin = starts_[call],
                          .order = orders_[call],
                          .end = starts_[call] + walls_[call]});
      }
    }
  }

  [[nodiscard]] const std::vector<SlowCall>& found() const { return found_; }

private:
  const CallSet* slow_;
  stacks::CallStates states_;
  std::vector<SlowCall> found_;
  // Of the block:
  std::vector<std::uint64_t> latencies_;
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint64_t> walls_;
  std::vector<std::uint32_t> orders_;
  std::vector<std::uint8_t> flags_;
};

// Returns the slow calls that the selection accepts, by thread and start.
std::vector<SlowCall> slow_calls(const Measurement& measurement, const Explanation& explanation,
                                 const Selection& selection) {
  std::vector<SlowCall> found;
  constexpr std::size_t calls_per_part = 500'000;
  std::vector<SlowCalls> parts(parts_of(explanation.complete, calls_per_part),
                               SlowCalls(explanation.slow, compared_states(selection)));
  each_judged_block(measurement, {&explanation.function, 1}, selection, parts,
                    [](SlowCalls& part, cache::EdgeId /*edge*/, const cache::BlockEntry& entry,
                       const cache::Block& block, std::span<const std::uint8_t> accepted) {
                      part.take(entry, block, accepted);
                    });
  for (const SlowCalls& part : parts) {
    found.insert(found.end(), part.found().begin(), part.found().end());
  }
  std::ranges::sort(found);
  return found;
}

// A wait in a slow call.
struct SlowWait {
  const waits::Wait* wait = nullptr;
  std::uint64_t begin = 0; // of the part in the call
  std::uint64_t end = 0;
  std::uint32_t call = 0;
};

std::vector<SlowWait> waits_in(const Measurement& measurement, const waits::Waits& waits,
                               std::span<const SlowCall> calls) {
  std::vector<SlowWait> found;
  for (std::uint32_t number = 0; number < calls.size(); ++number) {
    const SlowCall& call = calls[number];
    for (const waits::Wait& wait :
         waits.within(measurement.threads[call.thread].tid, call.begin, call.end)) {
      found.push_back({.wait = &wait,
                       .begin = std::max(wait.begin, call.begin),
                       .end = std::min(wait.end, call.end),
                       .call = number});
    }
  }
  return found;
}

} // namespace

bool ends_in_wait(const Explanation& explanation) {
  return std::ranges::any_of(explanation.components, [](const Component& component) {
    return wait_of(component).has_value();
  });
}

void name_waits(const Measurement& measurement, const waits::Waits& waits,
                const Selection& selection, Explanation& explanation) {
  std::map<WaitKey, WaitRows> rows;
  for (const Component& component : explanation.components) {
    if (const auto key = wait_of(component)) {
      rows.try_emplace(*key, measurement, waits);
    }
  }
  if (rows.empty()) {
    return;
  }
  const std::vector<SlowCall> calls = slow_calls(measurement, explanation, selection);
  const std::vector<SlowWait> slow_waits = waits_in(measurement, waits, calls);
  std::vector<ThreadTime> points;
  for (const SlowWait& each : slow_waits) {
    points.push_back({.tid = each.wait->tid, .time_ns = each.begin});
    points.push_back({.tid = each.wait->tid, .time_ns = each.wait->begin});
  }
  CallsNeeded needed(measurement);
  needed.add_calls_below(explanation.function);
  const InnermostCalls innermost(measurement, needed.edges(), std::move(points));
  for (auto& [key, made] : rows) {
    made.know_calls(innermost);
  }
  for (const SlowWait& each : slow_waits) {
    const waits::Wait& wait = *each.wait;
    const std::uint32_t row = innermost.at({.tid = wait.tid, .time_ns = each.begin});
    if (row == InnermostCalls::none) {
      continue;
    }
    const auto made =
        rows.find({innermost.calls().function[row], wait.reason == waits::Reason::preempted});
    if (made != rows.end()) {
      made->second.add({.wait = &wait, .time = each.end - each.begin, .call = each.call});
    }
  }
  std::map<WaitKey, std::optional<WaitRow>> found;
  for (auto& [key, made] : rows) {
    found.emplace(key, main_row(made));
  }
  for (Component& component : explanation.components) {
    if (const auto key = wait_of(component)) {
      component.wait = found[*key];
    }
  }
}

} // namespace ptlens::measure
