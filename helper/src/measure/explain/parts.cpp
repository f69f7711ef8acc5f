// Own time is what the latencies of a level's calls contain beside the latencies of the calls that
// they made, so that the parts always sum to the latencies.
#include "measure/explain/parts.hpp"

#include "measure/explain/call_scan.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

namespace ptlens::measure {

Owners::Owners(const FunctionCalls& function_calls)
    : calls(&function_calls), of(function_calls.size(), none) {
  call.reserve(function_calls.slow.calls + function_calls.typical.calls);
  for (std::uint32_t number = 0; number < function_calls.size(); ++number) {
    if (function_calls.set[number] != FunctionCalls::Set::other) {
      of[number] = static_cast<std::uint32_t>(call.size());
      call.push_back(number);
    }
  }
}

PartReader::PartReader(const Measurement& measurement, const FunctionCalls& calls)
    : measurement_(measurement), cache_(*measurement.cache), calls_(calls), owners_(calls) {
  times_.latency.reserve(owners_.size());
  for (const std::uint32_t call : owners_.call) {
    times_.latency.push_back(static_cast<double>(calls.latency[call]));
  }
  for (const FunctionCalls::OffCpu& off : calls.off_cpu) {
    if (const std::uint32_t owner = owners_.of[off.call]; owner != Owners::none) {
      times_.off_cpu.push_back({.owner = owner,
                                .blocked = static_cast<double>(off.blocked),
                                .preempted = static_cast<double>(off.preempted)});
    }
  }
}

Level PartReader::top(stacks::FunctionId function) const {
  return {.function = function, .index = &calls_.index, .owner = owners_.of, .times = &times_};
}

namespace {

// Returns the call of the explained function that a call of that level is in, or none.
std::uint32_t owner_of(const Level& level, std::uint32_t thread, stacks::CallId call) {
  const std::uint32_t number = level.index->number(thread, call);
  return number == NumberedCalls::none ? Owners::none : level.owner[number];
}

void add_off_cpu(std::vector<OffCpuTime>& off_cpu, std::uint32_t owner, const ScannedCall& call) {
  if ((call.blocked | call.preempted) != 0) {
    off_cpu.push_back({.owner = owner,
                       .blocked = static_cast<double>(call.blocked),
                       .preempted = static_cast<double>(call.preempted)});
  }
}

} // namespace

LowerLevel PartReader::below(const Level& level, cache::EdgeId edge) const {
  LowerLevel made{.function = cache_.edge(edge).function,
                  .index = NumberedCalls(cache_.calls_by_thread()),
                  .owner = {},
                  .times = {.latency = std::vector<double>(owners_.size()), .off_cpu = {}}};
  scan_calls(cache_, edge, [&](const ScannedCall& call) {
    if (owner_of(level, call.thread, call.parent) != Owners::none) {
      made.index.add(call.thread, call.order);
    }
  });
  made.owner.resize(made.index.finish(), Owners::none);
  scan_calls(cache_, edge, [&](const ScannedCall& call) {
    const std::uint32_t number = made.index.number(call.thread, call.order);
    if (number != NumberedCalls::none) {
      const std::uint32_t owner = owner_of(level, call.thread, call.parent);
      made.owner[number] = owner;
      made.times.latency[owner] += static_cast<double>(call.latency);
      add_off_cpu(made.times.off_cpu, owner, call);
    }
  });
  return made;
}

PartKey part_key(const Measurement& measurement, cache::EdgeId edge) {
  constexpr std::string_view unknown_binary = "[unknown]";
  const cache::Edge& between = measurement.cache->edge(edge);
  const bool known = measurement.functions.has(between.function) &&
                     measurement.functions[between.function].binary != unknown_binary;
  return {.kind = known ? PartKind::child : PartKind::unknown,
          .function = between.function,
          .site = between.site};
}

// The calls on an edge that a level's calls made.
struct PartReader::Children {
  PartValues part;
  std::vector<OffCpuTime> off_cpu;
};

// `sums`: as many as there are owners, all 0, before and afterwards.
PartReader::Children PartReader::children_on(const Level& level, cache::EdgeId edge,
                                             std::vector<PartValue>& sums) const {
  Children children{
      .part = {.part = {.key = part_key(measurement_, edge)}, .edge = edge, .values = {}},
      .off_cpu = {}};
  std::vector<std::uint32_t> touched;
  scan_calls(cache_, edge, [&](const ScannedCall& call) {
    const std::uint32_t owner = owner_of(level, call.thread, call.parent);
    if (owner == Owners::none) {
      return;
    }
    PartValue& sum = sums[owner];
    if (sum.count == 0) {
      touched.push_back(owner);
    }
    ++sum.count;
    sum.time += static_cast<double>(call.latency);
    add_off_cpu(children.off_cpu, owner, call);
  });
  if (!std::ranges::is_sorted(touched)) {
    std::ranges::sort(touched);
  }
  children.part.values.reserve(touched.size());
  for (const std::uint32_t owner : touched) {
    children.part.values.push_back(
        {.owner = owner, .count = sums[owner].count, .time = sums[owner].time});
    sums[owner] = {};
  }
  return children;
}

std::vector<PartReader::Children> PartReader::all_children(const Level& level) const {
  const std::span<const cache::EdgeId> edges = cache_.edges_from(level.function);
  std::vector<Children> children(edges.size());
  std::atomic<std::size_t> next = 0;
  do_parts(parts_of(edges.size(), 1), [&](std::size_t) {
    std::vector<PartValue> sums(owners_.size());
    for (std::size_t at = next++; at < edges.size(); at = next++) {
      children[at] = children_on(level, edges[at], sums);
    }
  });
  std::erase_if(children, [](const Children& each) { return each.part.values.empty(); });
  return children;
}

std::vector<PartValues> PartReader::read(const Level& level) const {
  std::vector<Children> children = all_children(level);
  // Times can be negative where the times of a callee are uncertain.
  std::vector<double> self = level.times->latency;
  std::vector<double> blocked;
  std::vector<double> preempted;
  const auto change_off_cpu = [&](const std::vector<OffCpuTime>& off_cpu, double sign) {
    if (blocked.empty() && !off_cpu.empty()) {
      blocked.resize(self.size());
      preempted.resize(self.size());
    }
    for (const OffCpuTime& off : off_cpu) {
      blocked[off.owner] += sign * off.blocked;
      preempted[off.owner] += sign * off.preempted;
      self[off.owner] -= sign * (off.blocked + off.preempted);
    }
  };
  change_off_cpu(level.times->off_cpu, 1);
  std::vector<PartValues> parts;
  for (Children& made : children) {
    for (const PartValue& value : made.part.values) {
      self[value.owner] -= value.time;
    }
    change_off_cpu(made.off_cpu, -1);
    parts.push_back(std::move(made.part));
  }
  for (const auto& [kind, times] :
       {std::pair(PartKind::self, &self), std::pair(PartKind::blocked, &blocked),
        std::pair(PartKind::preempted, &preempted)}) {
    PartValues part;
    part.part.key = {.kind = kind, .function = level.function};
    for (std::uint32_t owner = 0; owner < times->size(); ++owner) {
      if ((*times)[owner] != 0) {
        part.values.push_back({.owner = owner, .time = (*times)[owner]});
      }
    }
    if (!part.values.empty()) {
      parts.push_back(std::move(part));
    }
  }
  do_tasks(parts.size(), [&](std::size_t at) { finish(parts[at]); });
  std::ranges::stable_sort(parts, [](const PartValues& one, const PartValues& other) {
    return one.part.delta > other.part.delta;
  });
  return parts;
}

// Computes the figures of the part from its values.
void PartReader::finish(PartValues& values) const {
  Part& part = values.part;
  const auto slow_calls = static_cast<double>(calls_.slow.calls);
  const auto typical_calls = static_cast<double>(calls_.typical.calls);
  double most = 0;
  for (const PartValue& value : values.values) {
    if (owners_.is_slow(value.owner)) {
      part.slow_mean += value.time / slow_calls;
      part.slow_count += value.count / slow_calls;
      ++part.slow_presence;
      if (value.time > most) {
        most = value.time;
        const std::uint32_t call = owners_.call[value.owner];
        part.example = ExampleCall{.tid = measurement_.threads[calls_.thread[call]].tid,
                                   .start = calls_.start[call]};
      }
    }
    if (owners_.is_typical(value.owner)) {
      part.typical_mean += value.time / typical_calls;
      part.typical_count += value.count / typical_calls;
      ++part.typical_presence;
    }
  }
  part.delta = part.slow_mean - part.typical_mean;
  const double gap = calls_.slow.mean - calls_.typical.mean;
  part.share = gap == 0 ? 0 : part.delta / gap;
  const bool is_call = part.key.kind == PartKind::child || part.key.kind == PartKind::unknown;
  if (is_call) {
    // A set without calls has no mean cost of its own: it takes that of the other set.
    double slow_cost = part.slow_count > 0 ? part.slow_mean / part.slow_count : 0;
    const double typical_cost =
        part.typical_count > 0 ? part.typical_mean / part.typical_count : slow_cost;
    if (part.slow_count == 0) {
      slow_cost = typical_cost;
    }
    part.count_part = (part.slow_count - part.typical_count) * (slow_cost + typical_cost) / 2;
    part.cost_part = (slow_cost - typical_cost) * (part.slow_count + part.typical_count) / 2;
  }
}

} // namespace ptlens::measure
