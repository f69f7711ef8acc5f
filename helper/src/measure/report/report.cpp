// The report is made from the edges to the functions and from them. An edge has one caller and one
// call site, so that each row of a report is a set of whole edges.
#include "measure/report/report.hpp"

#include "cache/writing/edge_tally.hpp"
#include "measure/report/report_rows.hpp"
#include "measure/selection/caller.hpp"
#include "measure/selection/select_calls.hpp"
#include "measure/statistics/covered_time.hpp"
#include "measure/statistics/edge_figures.hpp"
#include "measure/statistics/pair_map.hpp"
#include "measure/thread_rows.hpp"
#include "symbols/names/name_shape.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <utility>

namespace ptlens::measure {

namespace {

using stacks::FunctionId;
using stacks::SiteId;

// Numbers the sets of a report about the functions' own calls: all calls, the calls of each caller,
// of each thread, and of each instance.
struct OwnCalls {
  PairMap<FunctionId, SiteId> callers;
  std::vector<cache::EdgeId> edges;
  std::vector<EdgeCalls> calls;     // by edge
  std::vector<EdgeCalls> instances; // by edge; empty for a single function
  bool one_caller = false;          // it makes all calls, and needs no set of its own
  bool one_thread = false;          // the same
  std::uint32_t first_caller = 1;   // set 0 contains all calls
  std::uint32_t first_thread = 1;
  std::uint32_t sets = 1;

  OwnCalls(const Measurement& measurement, std::span<const FunctionId> functions) {
    const cache::CallCache& cache = *measurement.cache;
    bool all_have_callers = true;
    for (std::uint32_t instance = 0; instance < functions.size(); ++instance) {
      for (const cache::EdgeId edge : cache.edges_to(functions[instance])) {
        const cache::Edge& between = cache.edge(edge);
        const FunctionId caller = caller_of(measurement, between.site, between.caller);
        edges.push_back(edge);
        EdgeCalls& added = calls.emplace_back();
        added.edge = edge;
        if (caller != FunctionId::none || between.site != SiteId::none) {
          added.set = callers.number(caller, between.site);
        } else {
          all_have_callers = false;
        }
        if (functions.size() > 1) {
          instances.push_back({.edge = edge, .set = instance});
        }
      }
    }
    one_caller = callers.size() == 1 && all_have_callers;
    one_thread = cache.thread_count() == 1;
    first_thread = first_caller + (one_caller ? 0 : static_cast<std::uint32_t>(callers.size()));
    sets = first_thread + (one_thread ? 0 : static_cast<std::uint32_t>(cache.thread_count()));
    for (EdgeCalls& each : calls) {
      each.set = one_caller || each.set == no_set ? 0 : first_caller + each.set;
      each.threads = one_thread ? no_set : first_thread;
    }
  }
};

// The calls that the selected calls made.
class Children {
public:
  Children(const Measurement& measurement, std::span<const FunctionId> functions,
           const cache::OrderSet* selected, const OwnCalls& own)
      : measurement_(measurement), cache_(*measurement.cache), functions_(functions),
        filter_({.calls = nullptr, .made_in = selected, .raw = false}), own_(own) {
    for (const FunctionId function : functions) {
      const auto made = cache_.edges_from(function);
      edges_.insert(edges_.end(), made.begin(), made.end());
    }
    std::ranges::sort(edges_); // an edge has one caller: each is there once
  }

  [[nodiscard]] std::vector<RelatedRow> rows() const {
    std::vector<RelatedRow> rows = functions_.size() == 1 ? rows_of_edges() : rows_of_sets();
    order_rows(rows);
    return rows;
  }

private:
  // With one caller each row is one edge, whose figures the cache may contain.
  [[nodiscard]] std::vector<RelatedRow> rows_of_edges() const {
    std::vector<cache::EdgeTally> made = cache::edge_tallies(cache_, filter_, edges_);
    // Calls that one call makes do not overlap. So a call is only nested in another one where the
    // calls that make them are nested.
    if (const CallTimes nested(cache_, own_.edges, CallTimes::Of::nested); !nested.empty()) {
      for (const CoveredTime& covered :
           covered_times(cache_, filter_, edges_, {.within = &nested, .folded = {}})) {
        made[covered.at].tally.covered_on_cpu += covered.on_cpu;
      }
    }
    std::vector<RelatedRow> rows;
    rows.reserve(edges_.size());
    for (std::size_t at = 0; at < edges_.size(); ++at) {
      const cache::Edge& edge = cache_.edge(edges_[at]);
      rows.push_back(related_row(measurement_, edge.function, edge.site,
                                 figures_of(made[at].tally, made[at].ranks)));
    }
    return rows;
  }

  // Calls of any of the functions count as calls of the first of them.
  [[nodiscard]] std::vector<RelatedRow> rows_of_sets() const {
    PairMap<FunctionId, SiteId> children;
    std::vector<EdgeCalls> calls;
    for (const cache::EdgeId index : edges_) {
      const cache::Edge& edge = cache_.edge(index);
      const bool folded = std::ranges::find(functions_, edge.function) != functions_.end();
      calls.push_back(
          {.edge = index,
           .set = children.number(folded ? functions_.front() : edge.function, edge.site)});
    }
    EdgeFigures figures(cache_, filter_, {.count = static_cast<std::uint32_t>(children.size())});
    for (const CoveredTime& covered :
         covered_times(cache_, filter_, edges_, {.within = nullptr, .folded = functions_})) {
      figures.cover(calls[covered.at], covered.thread, covered.on_cpu);
    }
    const std::vector<SetFigures> sets = figures.read(calls);
    std::vector<RelatedRow> rows;
    for (std::uint32_t row = 0; row < children.size(); ++row) {
      const auto& [function, site] = children[row];
      rows.push_back(related_row(measurement_, function, site, sets[row].figures));
    }
    return rows;
  }

  const Measurement& measurement_;
  const cache::CallCache& cache_;
  std::span<const FunctionId> functions_;
  cache::CallFilter filter_;
  const OwnCalls& own_;
  std::vector<cache::EdgeId> edges_;
};

std::vector<InstanceRow> instance_rows(const cache::CallCache& cache,
                                       const cache::CallFilter& filter,
                                       std::span<const FunctionId> functions, const OwnCalls& own) {
  EdgeFigures figures(cache, filter, {.count = static_cast<std::uint32_t>(functions.size())});
  const std::vector<SetFigures> sets = figures.read(own.instances);
  std::vector<InstanceRow> rows;
  for (std::size_t instance = 0; instance < functions.size(); ++instance) {
    const SetFigures& set = sets[instance];
    rows.push_back({.function = functions[instance],
                    .complete = set.states[0],
                    .incomplete = set.states[1],
                    .unwound = set.states[2],
                    .latency = set.figures.latency});
  }
  std::ranges::stable_sort(rows, std::greater(), &InstanceRow::complete);
  return rows;
}

} // namespace

Report report(const Measurement& measurement, FunctionId function, const Selection& selection) {
  return report(measurement, std::vector<FunctionId>{function}, selection);
}

Report report(const Measurement& measurement, const std::vector<FunctionId>& functions,
              const Selection& selection) {
  const cache::CallCache& cache = *measurement.cache;
  const stacks::CallStates states = selection.states_or({stacks::CallState::complete});
  std::optional<cache::OrderSet> accepted;
  if (!selection.accepts_all()) {
    accepted = select_calls(measurement, functions, selection);
  }
  std::optional<cache::OrderSet> in_states; // nothing: all that are accepted
  if (!selection.states.empty()) {
    in_states = select_calls(measurement, functions, selection, states);
  }
  const cache::OrderSet* const selected = accepted ? &*accepted : nullptr;
  const cache::CallFilter filter{
      .calls = selected, .made_in = nullptr, .raw = false, .states = states};
  const OwnCalls own(measurement, functions);
  const std::vector<std::uint32_t> rows = first_rows(measurement.threads);
  EdgeFigures figures(cache, filter,
                      {.count = own.sets,
                       .with_histogram = 1,
                       .first_subset = own.first_caller,
                       .end_subset = own.first_thread,
                       .rows = rows});
  const auto folded = functions.size() > 1 ? std::span(functions) : std::span<const FunctionId>();
  for (const CoveredTime& covered :
       covered_times(cache, filter, own.edges, {.within = nullptr, .folded = folded})) {
    figures.cover(own.calls[covered.at], covered.thread, covered.on_cpu);
  }
  std::vector<SetFigures> sets = figures.read(own.calls);

  std::vector<RelatedRow> callers;
  for (std::uint32_t row = 0; row < own.callers.size(); ++row) {
    const auto& [caller, site] = own.callers[row];
    callers.push_back(related_row(measurement, caller, site,
                                  sets[own.one_caller ? 0 : own.first_caller + row].figures));
  }
  order_rows(callers);
  std::vector<ThreadRow> threads;
  for (std::uint32_t thread = 0; thread < cache.thread_count(); ++thread) {
    const SetFigures& set = sets[own.one_thread ? 0 : own.first_thread + thread];
    threads.push_back({.thread = thread,
                       .incomplete = set.states[1],
                       .unwound = set.states[2],
                       .latency = set.figures.latency,
                       .off_cpu = set.figures.off_cpu});
  }
  order_rows(threads);

  Report report = function_report(measurement, functions.front(), std::move(sets.front()));
  report.callers = std::move(callers);
  report.states = states;
  report.children =
      Children(measurement, functions, in_states ? &*in_states : selected, own).rows();
  report.threads = std::move(threads);
  const bool only_whole_calls =
      report.latency.calls > 0 && !states.has(stacks::CallState::incomplete);
  report.self_known = std::ranges::all_of(functions, [&](FunctionId function) {
    return measurement.self_known(function, !only_whole_calls);
  });
  if (functions.size() > 1) {
    report.instances = instance_rows(cache, filter, functions, own);
  }
  return report;
}

std::optional<LatencyStats> raw_latency(const Measurement& measurement,
                                        std::span<const FunctionId> functions,
                                        const Selection& selection) {
  if (!measurement.is_corrected()) {
    return std::nullopt;
  }
  std::optional<cache::OrderSet> accepted;
  if (!selection.accepts_all()) {
    accepted = select_calls(measurement, functions, selection);
  }
  const cache::CallFilter filter{.calls = accepted ? &*accepted : nullptr,
                                 .made_in = nullptr,
                                 .raw = true,
                                 .states = selection.states_or({stacks::CallState::complete})};
  std::vector<EdgeCalls> calls;
  for (const FunctionId function : functions) {
    for (const cache::EdgeId edge : measurement.cache->edges_to(function)) {
      calls.push_back({.edge = edge, .set = 0});
    }
  }
  LatencyStats raw =
      EdgeFigures(*measurement.cache, filter, {.count = 1}).read(calls).front().figures.latency;
  if (raw.calls == 0) {
    return std::nullopt;
  }
  raw.uncertainty = 1; // the clock counts ns
  raw.within = {};
  return raw;
}

std::string common_name(const Measurement& measurement, const Report& report) {
  const std::string first =
      symbols::without_parameters(measurement.functions[report.function].name);
  const bool same = std::ranges::all_of(report.instances, [&](const InstanceRow& row) {
    return symbols::without_parameters(measurement.functions[row.function].name) == first;
  });
  return same ? first : symbols::last_component(first);
}

} // namespace ptlens::measure
