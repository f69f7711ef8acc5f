// The report of one function from a table: group its calls and the calls it made by (function,
// site) and by thread, then take the figures of each group.
#include "measure/report/report.hpp"

#include "measure/report/function_report.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/statistics/call_tree.hpp"
#include "measure/statistics/caller.hpp"
#include "measure/statistics/pair_map.hpp"
#include "measure/statistics/statistics.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace ptlens::measure {

namespace {

using stacks::CallState;
using stacks::no_call;
using stacks::no_site;

// Calls and the rows they belong to.
struct Grouping {
  PairMap rows; // (function, site)
  std::vector<std::uint32_t> calls;
  std::vector<std::uint32_t> row;

  void add(std::uint32_t call, std::uint32_t function, std::uint32_t site) {
    calls.push_back(call);
    row.push_back(rows.number(function, site));
  }
};

std::vector<RelatedRow> related_rows(const Measurement& measurement, const CallSubset& part,
                                     const Grouping& grouping,
                                     const std::vector<std::uint8_t>& covered) {
  const std::vector<Figures> all =
      figures(part.calls(), grouping.calls, grouping.row, grouping.rows.size(), covered);
  std::vector<RelatedRow> rows;
  rows.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [function, site] = grouping.rows[i];
    rows.push_back(related_row(measurement, function, site, all[i]));
  }
  order_rows(rows);
  return rows;
}

std::vector<RelatedRow> callers(const Measurement& measurement, const CallSubset& part,
                                std::span<const std::uint32_t> complete,
                                const std::vector<std::uint8_t>& covered) {
  Grouping grouping;
  for (const std::uint32_t call : complete) {
    const std::uint32_t caller = caller_of(measurement, part, call);
    const std::uint32_t site = part.calls().site[call];
    if (caller != no_call || site != no_site) {
      grouping.add(call, caller, site);
    }
  }
  return related_rows(measurement, part, grouping, covered);
}

std::vector<RelatedRow> children(const Measurement& measurement, const CallSubset& part,
                                 std::span<const std::uint32_t> selected) {
  const stacks::CallTable& calls = part.calls();
  std::vector<std::uint8_t> is_selected(calls.size(), 0);
  for (const std::uint32_t call : selected) {
    is_selected[call] = 1;
  }
  Grouping grouping;
  for (std::size_t call = selected.empty() ? calls.size() : selected.front(); call < calls.size();
       ++call) {
    const std::uint32_t parent = calls.parent[call];
    if (parent != no_call && is_selected[parent] != 0 && calls.state[call] == CallState::complete) {
      grouping.add(static_cast<std::uint32_t>(call), calls.function[call], calls.site[call]);
    }
  }
  return related_rows(measurement, part, grouping,
                      covered_calls(calls, grouping.calls, measurement.functions.size()));
}

std::vector<ThreadRow> threads(const Measurement& measurement, const stacks::CallTable& calls,
                               std::span<const std::uint32_t> all,
                               std::span<const std::uint32_t> complete) {
  std::vector<std::uint32_t> thread;
  thread.reserve(complete.size());
  for (const std::uint32_t call : complete) {
    thread.push_back(calls.thread[call]);
  }
  const std::vector<Figures> figure =
      figures(calls, complete, thread, measurement.threads.size(), {});
  std::vector<ThreadRow> rows(measurement.threads.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].thread = static_cast<std::uint32_t>(i);
    rows[i].latency = figure[i].latency;
    rows[i].off_cpu = figure[i].off_cpu;
  }
  for (const std::uint32_t call : all) {
    ThreadRow& row = rows[calls.thread[call]];
    row.incomplete += calls.state[call] == CallState::incomplete ? 1 : 0;
    row.unwound += calls.state[call] == CallState::unwound ? 1 : 0;
  }
  order_rows(rows);
  return rows;
}

std::vector<InstanceRow> instances(const stacks::CallTable& calls,
                                   const std::vector<std::uint32_t>& functions,
                                   const std::vector<std::uint32_t>& selected,
                                   const std::vector<std::uint32_t>& called) {
  std::vector<InstanceRow> rows(functions.size());
  std::vector<std::uint32_t> complete;
  std::vector<std::uint32_t> group;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].function = functions[i];
  }
  for (const std::uint32_t call : selected) {
    const auto at =
        static_cast<std::uint32_t>(std::ranges::find(functions, called[call]) - functions.begin());
    switch (calls.state[call]) {
    case CallState::complete:
      ++rows[at].complete;
      complete.push_back(call);
      group.push_back(at);
      break;
    case CallState::incomplete:
      ++rows[at].incomplete;
      break;
    case CallState::unwound:
      ++rows[at].unwound;
      break;
    }
  }
  const std::vector<Figures> all = figures(calls, complete, group, rows.size(), {});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].latency = all[i].latency;
  }
  std::ranges::stable_sort(rows, std::greater(), &InstanceRow::complete);
  return rows;
}

Report whole_report(const Measurement& measurement, const CallSubset& part, std::uint32_t function,
                    const std::vector<std::uint32_t>& selected) {
  const stacks::CallTable& calls = part.calls();
  const std::vector<std::uint32_t> complete = complete_calls(calls, selected);
  const std::vector<std::uint8_t> covered =
      covered_calls(calls, complete, measurement.functions.size());
  Report report = function_report(measurement, calls, function, selected, complete, covered);
  report.callers = callers(measurement, part, complete, covered);
  report.children = children(measurement, part, selected);
  report.threads = threads(measurement, calls, selected, complete);
  return report;
}

} // namespace

std::vector<std::uint32_t> complete_calls(const stacks::CallTable& table,
                                          std::span<const std::uint32_t> calls) {
  std::vector<std::uint32_t> complete;
  complete.reserve(calls.size());
  for (const std::uint32_t call : calls) {
    if (table.state[call] == CallState::complete) {
      complete.push_back(call);
    }
  }
  return complete;
}

RelatedRow related_row(const Measurement& measurement, std::uint32_t function, std::uint32_t site,
                       const Figures& figures) {
  return {.function = function,
          .site = site,
          .latency = figures.latency,
          .off_cpu = figures.off_cpu,
          .cpu_percent = cpu_percent(measurement.recording, figures.outermost_on_cpu)};
}

void order_rows(std::vector<RelatedRow>& rows) {
  std::ranges::sort(rows, {}, [](const RelatedRow& row) {
    return std::tuple(~row.latency.total, ~row.latency.calls, row.function, row.site);
  });
}

void order_rows(std::vector<ThreadRow>& rows) {
  std::erase_if(rows, [](const ThreadRow& row) {
    return row.latency.calls == 0 && row.incomplete == 0 && row.unwound == 0;
  });
  std::ranges::sort(rows, {},
                    [](const ThreadRow& row) { return std::pair(~row.latency.calls, row.thread); });
}

Report function_report(const Measurement& measurement, std::uint32_t function,
                       const std::array<std::uint64_t, 3>& states, const Figures& figures,
                       std::vector<Bucket> histogram) {
  Report report;
  report.function = function;
  report.complete = states[static_cast<std::size_t>(CallState::complete)];
  report.incomplete = states[static_cast<std::size_t>(CallState::incomplete)];
  report.unwound = states[static_cast<std::size_t>(CallState::unwound)];
  report.latency = figures.latency;
  report.off_cpu = figures.off_cpu;
  report.on_cpu_total = figures.on_cpu_total;
  report.on_cpu_mean = mean_of(figures.on_cpu_total, report.complete);
  report.outside_total = figures.outside_total;
  report.outside_mean = mean_of(figures.outside_total, report.complete);
  report.self_total = figures.self_total;
  report.self_mean = mean_of(figures.self_total, report.complete);
  report.cpu_percent = cpu_percent(measurement.recording, figures.outermost_on_cpu);
  report.histogram = std::move(histogram);
  return report;
}

Report function_report(const Measurement& measurement, const stacks::CallTable& table,
                       std::uint32_t function, std::span<const std::uint32_t> calls,
                       std::span<const std::uint32_t> complete,
                       const std::vector<std::uint8_t>& covered) {
  std::array<std::uint64_t, 3> states{};
  for (const std::uint32_t call : calls) {
    ++states.at(static_cast<std::size_t>(table.state[call]));
  }
  const std::vector<std::uint32_t> one_group(complete.size(), 0);
  const Figures figure = figures(table, complete, one_group, 1, covered).front();
  return function_report(measurement, function, states, figure, histogram(table, complete));
}

Report report(const Measurement& measurement, std::uint32_t function, const Selection& selection) {
  if (measurement.store != nullptr) {
    return report_of_store(measurement, function, selection);
  }
  const CallSubset part(measurement.calls);
  return whole_report(measurement, part, function,
                      select_calls(measurement, part.calls(), function, selection));
}

Report report(const Measurement& measurement, const std::vector<std::uint32_t>& functions,
              const Selection& selection) {
  if (functions.size() == 1) {
    return report(measurement, functions.front(), selection);
  }
  CallsNeeded needs(measurement);
  for (const std::uint32_t function : functions) {
    needs.calls_of(function);
    needs.calls_in(function);
    needs.way_up(function, selection);
  }
  CallSubset part = needs.gather();
  const std::vector<std::uint32_t> called = part.calls().function;
  std::vector<std::uint32_t> selected;
  for (const std::uint32_t function : functions) {
    const auto own = select_calls(measurement, part.calls(), function, selection);
    selected.insert(selected.end(), own.begin(), own.end());
  }
  std::ranges::sort(selected);
  part.fold(functions);
  Report report = whole_report(measurement, part, functions.front(), selected);
  report.instances = instances(part.calls(), functions, selected, called);
  return report;
}

} // namespace ptlens::measure
