// Own time is what the latencies of a level's calls contain beside the latencies of the calls that
// they made, so that the parts always sum to the latencies.
#include "measure/explain/parts.hpp"

#include "measure/explain/call_scan.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace ptlens::measure {

namespace {

// Times of an owner, ns. Differences can be negative where the times of a child are uncertain.
struct OwnTime {
  double latency = 0;
  double blocked = 0;
  double preempted = 0;

  [[nodiscard]] double self() const { return latency - blocked - preempted; }
};

} // namespace

Owners::Owners(const FunctionCalls& function_calls)
    : calls(&function_calls), of(function_calls.size(), none) {
  for (std::uint32_t number = 0; number < function_calls.size(); ++number) {
    if (function_calls.set[number] != FunctionCalls::Set::other) {
      of[number] = static_cast<std::uint32_t>(call.size());
      call.push_back(number);
    }
  }
}

PartReader::PartReader(const Measurement& measurement, const FunctionCalls& calls)
    : measurement_(measurement), cache_(*measurement.cache), calls_(calls), owners_(calls) {}

Level PartReader::top(stacks::FunctionId function) const {
  std::vector<cache::EdgeId> edges;
  for (const cache::EdgeId edge : cache_.edges_to(function)) {
    edges.push_back(edge);
  }
  return {
      .function = function, .edges = std::move(edges), .index = calls_.index, .owner = owners_.of};
}

Level PartReader::below(const Level& level, cache::EdgeId edge) const {
  Level made{.function = cache_.edge(edge).function,
             .edges = {edge},
             .index = NumberedCalls(cache_.calls_by_thread()),
             .owner = {}};
  const auto owner_of = [&level](const ScannedCall& call) {
    const std::uint32_t parent = level.index.number(call.thread, call.parent);
    return parent == NumberedCalls::none ? Owners::none : level.owner[parent];
  };
  scan_calls(cache_, edge, [&](const ScannedCall& call) {
    if (owner_of(call) != Owners::none) {
      made.index.add(call.thread, call.order);
    }
  });
  made.owner.resize(made.index.finish(), Owners::none);
  scan_calls(cache_, edge, [&](const ScannedCall& call) {
    const std::uint32_t number = made.index.number(call.thread, call.order);
    if (number != NumberedCalls::none) {
      made.owner[number] = owner_of(call);
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

std::vector<PartValues> PartReader::read(const Level& level) const {
  std::vector<OwnTime> own(owners_.size());
  for (const cache::EdgeId edge : level.edges) {
    scan_calls(cache_, edge, [&](const ScannedCall& call) {
      const std::uint32_t number = level.index.number(call.thread, call.order);
      if (number == NumberedCalls::none || level.owner[number] == Owners::none) {
        return;
      }
      OwnTime& time = own[level.owner[number]];
      time.latency += static_cast<double>(call.latency);
      time.blocked += static_cast<double>(call.blocked);
      time.preempted += static_cast<double>(call.preempted);
    });
  }
  std::vector<PartValues> parts;
  std::vector<PartValue> sums(owners_.size());
  std::vector<std::uint32_t> touched;
  for (const cache::EdgeId edge : cache_.edges_from(level.function)) {
    touched.clear();
    scan_calls(cache_, edge, [&](const ScannedCall& call) {
      const std::uint32_t parent = level.index.number(call.thread, call.parent);
      const std::uint32_t owner =
          parent == NumberedCalls::none ? Owners::none : level.owner[parent];
      if (owner == Owners::none) {
        return;
      }
      PartValue& sum = sums[owner];
      if (sum.count == 0) {
        touched.push_back(owner);
      }
      ++sum.count;
      sum.time += static_cast<double>(call.latency);
      own[owner].latency -= static_cast<double>(call.latency);
      own[owner].blocked -= static_cast<double>(call.blocked);
      own[owner].preempted -= static_cast<double>(call.preempted);
    });
    if (touched.empty()) {
      continue;
    }
    PartValues& part = parts.emplace_back();
    part.part.key = part_key(measurement_, edge);
    part.edge = edge;
    std::ranges::sort(touched);
    for (const std::uint32_t owner : touched) {
      part.values.push_back({.owner = owner, .count = sums[owner].count, .time = sums[owner].time});
      sums[owner] = {};
    }
  }
  constexpr std::array own_parts = {
      std::pair(PartKind::self, &OwnTime::latency),
      std::pair(PartKind::blocked, &OwnTime::blocked),
      std::pair(PartKind::preempted, &OwnTime::preempted),
  };
  for (const auto& [kind, member] : own_parts) {
    PartValues part;
    part.part.key = {.kind = kind, .function = level.function};
    for (std::uint32_t owner = 0; owner < own.size(); ++owner) {
      const double time = kind == PartKind::self ? own[owner].self() : own[owner].*member;
      if (time != 0) {
        part.values.push_back({.owner = owner, .time = time});
      }
    }
    if (!part.values.empty()) {
      parts.push_back(std::move(part));
    }
  }
  for (PartValues& part : parts) {
    finish(part);
  }
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
