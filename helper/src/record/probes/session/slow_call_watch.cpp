#include "record/probes/session/slow_call_watch.hpp"

#include "record/probes/events/probe_events.hpp"
#include "record/probes/plan/goroutine_probes.hpp"
#include "record/probes/plan/probe_plan.hpp"
#include "record/targets/target_functions.hpp"

#include <algorithm>
#include <utility>

namespace ptlens::record {

std::uint64_t stack_of_thread(std::int32_t tid) {
  return static_cast<std::uint32_t>(tid);
}

std::uint64_t stack_of(const GoroutineSample& goroutine, std::int32_t tid) {
  constexpr std::uint64_t of_goroutine = std::uint64_t{1} << 63U;
  return goroutine.number == 0 ? stack_of_thread(tid) : goroutine.number | of_goroutine;
}

void CallTimer::restart(std::uint64_t stack, std::uint64_t stack_pointer) {
  std::vector<Open>& open = open_[stack];
  if (!open.empty() && open.back().stack_pointer == stack_pointer) {
    open.back().restarts = true;
  }
}

std::optional<std::uint64_t> CallTimer::add(std::uint64_t number, std::uint64_t stack_pointer,
                                            bool entry, std::uint64_t time_ns) {
  std::vector<Open>& stack = open_[number];
  if (entry && !stack.empty() && stack.back().stack_pointer == stack_pointer &&
      std::exchange(stack.back().restarts, false)) {
    return std::nullopt;
  }
  // Calls with a lower stack pointer have ended. An entry with the same stack pointer replaces a
  // call that ended without an exit.
  while (!stack.empty() && (stack.back().stack_pointer < stack_pointer ||
                            (entry && stack.back().stack_pointer == stack_pointer))) {
    stack.pop_back();
  }
  if (entry) {
    stack.push_back({.stack_pointer = stack_pointer, .start_ns = time_ns});
    return std::nullopt;
  }
  if (stack.empty() || stack.back().stack_pointer != stack_pointer) {
    return std::nullopt;
  }
  const std::uint64_t start = stack.back().start_ns;
  stack.pop_back();
  if (stack.empty()) {
    open_.erase(number); // a program may start any number of goroutines
  }
  return time_ns > start ? time_ns - start : 0;
}

std::uint64_t CallTimer::oldest_start() const {
  std::uint64_t oldest = UINT64_MAX;
  for (const auto& [tid, stack] : open_) {
    oldest = stack.empty() ? oldest : std::min(oldest, stack.front().start_ns);
  }
  return oldest;
}

Result<SlowCallWatch> SlowCallWatch::start(const Request& request, const Machine& machine) {
  auto found = find_targets(request);
  if (!found) {
    return std::unexpected(found.error());
  }
  const std::vector<Place>& targets = found->functions;
  auto plan = plan_probes(targets, resolver_of(found->files), PlanLimits{});
  if (!plan) {
    return std::unexpected(plan.error());
  }
  *plan = target_only(*plan);
  if (auto followed = follow_goroutines(*plan, request.tid.has_value()); !followed) {
    return std::unexpected(followed.error());
  }
  auto group = ProbeGroup::make(machine.tracefs);
  if (!group) {
    return std::unexpected(group.error());
  }
  ProbeEvents events(*group, found->files);
  if (auto defined = events.define(*plan); !defined) {
    return std::unexpected(defined.error());
  }
  auto reader = ProbeReader::open(events.events());
  if (!reader) {
    return std::unexpected(reader.error());
  }
  SlowCallWatch watch(std::move(*group), std::move(*reader));
  for (const Probe& probe : events.probes()) {
    watch.kinds_.emplace(probe.event_id, probe);
  }
  watch.pid_ = request.pid;
  watch.tid_ = request.tid;
  watch.function_ = targets.size() == 1 ? targets.front()->name : request.function_names();
  watch.slower_than_ns_ = request.slower_than_ns;
  return watch;
}

std::optional<std::uint64_t> SlowCallWatch::time(const LiveHit& hit) {
  const auto probe = kinds_.find(hit.event_id);
  if (probe == kinds_.end()) {
    return std::nullopt;
  }
  std::uint64_t stack = stack_of_thread(hit.tid);
  std::uint64_t place = hit.stack_pointer;
  if (probe->second.goroutine) {
    if (!hit.goroutine) {
      return std::nullopt;
    }
    stack = stack_of(*hit.goroutine, hit.tid);
    place = hit.goroutine->place;
  }
  if (probe->second.kind == Probe::Kind::goroutine_end) {
    timer_.end(stack);
    return std::nullopt;
  }
  if (probe->second.kind == Probe::Kind::restart) {
    timer_.restart(stack, place);
    return std::nullopt;
  }
  return timer_.add(stack, place, probe->second.kind == Probe::Kind::entry, hit.time_ns);
}

std::optional<SlowCall> SlowCallWatch::poll() {
  std::optional<SlowCall> slow;
  for (const LiveHit& hit : reader_.read()) {
    if (hit.pid != pid_.value_or(hit.pid) || hit.tid != tid_.value_or(hit.tid)) {
      continue; // another process that runs the same file
    }
    const auto latency = time(hit);
    calls_ += static_cast<std::uint64_t>(latency.has_value());
    if (latency.value_or(0) > slower_than_ns_ && !slow) {
      slow = SlowCall{.tid = hit.tid, .latency_ns = *latency};
    }
  }
  return slow;
}

} // namespace ptlens::record
