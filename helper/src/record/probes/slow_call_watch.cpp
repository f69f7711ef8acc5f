#include "record/probes/slow_call_watch.hpp"

#include "record/probes/probe_events.hpp"
#include "record/probes/probe_plan.hpp"
#include "record/targets/target_functions.hpp"

namespace ptlens::record {

std::optional<std::uint64_t> CallTimer::add(std::int32_t tid, std::uint64_t stack_pointer,
                                            bool entry, std::uint64_t time_ns) {
  std::vector<Open>& stack = open_[tid];
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
  return time_ns > start ? time_ns - start : 0;
}

Result<SlowCallWatch> SlowCallWatch::start(const Request& request, const Machine& machine) {
  auto files = TargetFiles::of(request);
  if (!files) {
    return std::unexpected(files.error());
  }
  const auto targets = find_targets(request, *files);
  if (!targets) {
    return std::unexpected(targets.error());
  }
  const StubResolver resolve = [&files](std::string_view name) { return files->resolve(name); };
  const auto plan = plan_probes(*targets, resolve, PlanLimits{});
  if (!plan) {
    return std::unexpected(plan.error());
  }
  auto group = ProbeGroup::make(machine.tracefs);
  if (!group) {
    return std::unexpected(group.error());
  }
  ProbeEvents events(*group, *files);
  if (auto defined = events.define(target_only(*plan)); !defined) {
    return std::unexpected(defined.error());
  }
  auto reader = ProbeReader::open(events.events());
  if (!reader) {
    return std::unexpected(reader.error());
  }
  std::set<std::uint64_t> entries;
  for (const Probe& probe : events.probes()) {
    if (probe.kind == Probe::Kind::entry) {
      entries.insert(probe.event_id);
    }
  }
  SlowCallWatch watch(std::move(*group), std::move(*reader), std::move(entries));
  watch.pid_ = request.pid;
  watch.tid_ = request.tid;
  watch.function_ = targets->size() == 1 ? targets->front()->name : request.function;
  watch.slower_than_ns_ = request.slower_than_ns;
  return watch;
}

std::optional<SlowCall> SlowCallWatch::poll() {
  std::optional<SlowCall> slow;
  for (const LiveHit& hit : reader_.read()) {
    if (hit.pid != pid_.value_or(hit.pid) || hit.tid != tid_.value_or(hit.tid)) {
      continue; // another process that runs the same file
    }
    const auto latency =
        timer_.add(hit.tid, hit.stack_pointer, entries_.contains(hit.event_id), hit.time_ns);
    calls_ += static_cast<std::uint64_t>(latency.has_value());
    if (latency.value_or(0) > slower_than_ns_ && !slow) {
      slow = SlowCall{.tid = hit.tid, .latency_ns = *latency};
    }
  }
  return slow;
}

} // namespace ptlens::record
