// The report of one function from a store. An edge has one caller and one site, so that whole edges
// make up the rows.
#include "measure/admission.hpp"
#include "measure/caller.hpp"
#include "measure/edge_figures.hpp"
#include "measure/function_report.hpp"
#include "measure/pair_map.hpp"
#include "measure/select_orders.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace ptlens::measure {

namespace {

using stacks::no_call;
using stacks::no_site;

// Whether some call of the function lies in another one of it. Where none does, none of what it
// called from one place lies in something else that it called.
bool is_recursive(const store::CallStore& store, std::uint32_t function) {
  const auto [first, last] = store.edges_to(function);
  for (std::uint32_t edge = first; edge < last; ++edge) {
    if (store.has_inner(edge)) {
      return true;
    }
  }
  return false;
}

// The function's own calls: what sets they make up.
struct OwnCalls {
  PairMap rows; // (function, site), of callers
  std::vector<EdgeCalls> calls;
  bool one_row = false;        // it holds all calls, and has no set of its own
  bool one_thread = false;     // the same
  std::uint32_t first_row = 1; // the first set holds all calls
  std::uint32_t first_thread = 1;
  std::uint32_t sets = 1;
};

OwnCalls own_calls(const Measurement& measurement, std::uint32_t function) {
  const store::CallStore& store = *measurement.store;
  const auto [first, last] = store.edges_to(function);
  OwnCalls own;
  bool all_have_callers = true;
  for (std::uint32_t edge = first; edge < last; ++edge) {
    const store::Edge& between = store.edge(edge);
    const std::uint32_t caller = caller_of(measurement, between.site, between.caller);
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
  const store::CallStore& store = *measurement.store;
  std::optional<OrderSet> selected;
  if (!admits_all(selection)) {
    selected = select_orders(measurement, function, selection);
  }
  const OrderSet* const asked = selected ? &*selected : nullptr;
  const std::array<Admitted, 2> admitted = {Admitted{.calls = asked, .made_in = nullptr},
                                            Admitted{.calls = nullptr, .made_in = asked}};
  const OwnCalls own = own_calls(measurement, function);
  std::vector<EdgeCalls> calls = own.calls;
  const auto inside = store.edges_from(function);
  for (std::uint32_t i = 0; i < inside.size(); ++i) {
    calls.push_back({.edge = inside[i], .group = 1, .set = own.sets + i});
  }
  EdgeFigures figures(store, admitted,
                      {.count = own.sets + static_cast<std::uint32_t>(inside.size()),
                       .with_histogram = 1,
                       .first_part = own.first_row,
                       .end_part = own.first_thread});
  if (is_recursive(store, function)) {
    figures.cover(calls);
  }
  std::vector<SetFigures> sets = figures.read(calls);

  Report report = function_report(measurement, function, sets[0].states, sets[0].figures,
                                  std::move(sets[0].histogram));
  const auto add = [&](std::vector<RelatedRow>& rows, std::uint32_t other, std::uint32_t site,
                       const SetFigures& set) {
    if (set.figures.latency.calls != 0) {
      rows.push_back(related_row(measurement, other, site, set.figures));
    }
  };
  for (std::uint32_t row = 0; row < own.rows.size(); ++row) {
    const auto& [caller, site] = own.rows[row];
    add(report.callers, caller, site, sets[own.one_row ? 0 : own.first_row + row]);
  }
  order_rows(report.callers);
  for (std::uint32_t i = 0; i < inside.size(); ++i) {
    const store::Edge& edge = store.edge(inside[i]);
    add(report.children, edge.function, edge.site, sets[own.sets + i]);
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
