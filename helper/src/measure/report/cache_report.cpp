// The report of one function from a store. An edge has one caller and one site, so that whole edges
// make up the rows. A call that was made inside lies in another one only if the call that it was
// made in does: two calls made in one do not run at the same time.
#include "cache/edge_tally.hpp"
#include "measure/report/function_report.hpp"
#include "measure/selection/call_filter.hpp"
#include "measure/selection/select_orders.hpp"
#include "measure/statistics/caller.hpp"
#include "measure/statistics/covered_time.hpp"
#include "measure/statistics/edge_figures.hpp"
#include "measure/statistics/pair_map.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace ptlens::measure {

namespace {

using stacks::no_call;
using stacks::no_site;

// The function's own calls: what sets they make up.
struct OwnCalls {
  PairMap rows; // (function, site), of callers
  std::vector<std::uint32_t> edges;
  std::vector<EdgeCalls> calls; // of each
  bool one_row = false;         // it holds all calls, and has no set of its own
  bool one_thread = false;      // the same
  std::uint32_t first_row = 1;  // the first set holds all calls
  std::uint32_t first_thread = 1;
  std::uint32_t sets = 1;
};

OwnCalls own_calls(const Measurement& measurement, std::uint32_t function) {
  const cache::CallCache& store = *measurement.store;
  const auto [first, last] = store.edges_to(function);
  OwnCalls own;
  bool all_have_callers = true;
  for (std::uint32_t edge = first; edge < last; ++edge) {
    const cache::Edge& between = store.edge(edge);
    const std::uint32_t caller = caller_of(measurement, between.site, between.caller);
    own.edges.push_back(edge);
    EdgeCalls& added = own.calls.emplace_back();
    added.edge = edge;
    if (caller != no_call || between.site != no_site) {
      added.set = own.rows.number(caller, between.site);
    } else {
      all_have_callers = false;
    }
  }
  own.one_row = own.rows.size() == 1 && all_have_callers;
  own.one_thread = store.thread_count() == 1;
  own.first_thread =
      own.first_row + (own.one_row ? 0 : static_cast<std::uint32_t>(own.rows.size()));
  own.sets =
      own.first_thread + (own.one_thread ? 0 : static_cast<std::uint32_t>(store.thread_count()));
  for (EdgeCalls& each : own.calls) {
    each.set = own.one_row || each.set == no_set ? 0 : own.first_row + each.set;
    each.threads = own.one_thread ? no_set : own.first_thread;
  }
  return own;
}

} // namespace

Report report_of_store(const Measurement& measurement, std::uint32_t function,
                       const Selection& selection) {
  const cache::CallCache& store = *measurement.store;
  std::optional<cache::OrderSet> selected;
  if (!admits_all(selection)) {
    selected = select_orders(measurement, function, selection);
  }
  const cache::OrderSet* const asked = selected ? &*selected : nullptr;
  const cache::Admitted admitted{.calls = asked, .made_in = nullptr};
  const cache::Admitted admitted_inside{.calls = nullptr, .made_in = asked};
  const OwnCalls own = own_calls(measurement, function);
  EdgeFigures figures(store, admitted,
                      {.count = own.sets,
                       .with_histogram = 1,
                       .first_part = own.first_row,
                       .end_part = own.first_thread});
  const auto inside = store.edges_from(function);
  std::vector<cache::EdgeTally> made_inside = cache::edge_tallies(store, admitted_inside, inside);
  if (const InnerTimes inner(store, own.edges); !inner.empty()) {
    for (const CoveredTime& covered : covered_times(store, admitted, own.edges)) {
      figures.cover(own.calls[covered.at], covered.thread, covered.on_cpu);
    }
    for (const CoveredTime& covered : covered_times(store, admitted_inside, inside, &inner)) {
      made_inside[covered.at].tally.covered_on_cpu += covered.on_cpu;
    }
  }
  std::vector<SetFigures> sets = figures.read(own.calls);

  Report report = function_report(measurement, function, sets[0].states, sets[0].figures,
                                  std::move(sets[0].histogram));
  const auto add = [&](std::vector<RelatedRow>& rows, std::uint32_t other, std::uint32_t site,
                       const Figures& of) {
    if (of.latency.calls != 0) {
      rows.push_back(related_row(measurement, other, site, of));
    }
  };
  for (std::uint32_t row = 0; row < own.rows.size(); ++row) {
    const auto& [caller, site] = own.rows[row];
    add(report.callers, caller, site, sets[own.one_row ? 0 : own.first_row + row].figures);
  }
  order_rows(report.callers);
  for (std::uint32_t i = 0; i < inside.size(); ++i) {
    const cache::Edge& edge = store.edge(inside[i]);
    add(report.children, edge.function, edge.site,
        figures_of(made_inside[i].tally, made_inside[i].ranks));
  }
  order_rows(report.children);
  for (std::uint32_t thread = 0; thread < store.thread_count(); ++thread) {
    const SetFigures& set = sets[own.one_thread ? 0 : own.first_thread + thread];
    report.threads.push_back({.thread = thread,
                              .incomplete = set.states[1],
                              .unwound = set.states[2],
                              .latency = set.figures.latency,
                              .off_cpu = set.figures.off_cpu});
  }
  order_rows(report.threads);
  return report;
}

} // namespace ptlens::measure
