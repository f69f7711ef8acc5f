// A measurement made by hand: two threads, three functions, six calls.
#pragma once

#include "cache/reading/call_rows.hpp"
#include "cache/writing/table_cache.hpp"
#include "measure/measurement.hpp"
#include "measure/report/report.hpp"
#include "support/ids.hpp"

namespace ptlens::exporting {

struct CallRow {
  std::uint32_t thread;
  stacks::FunctionId function;
  stacks::CallIndex parent;
  stacks::SiteId site;
  std::uint64_t start;
  std::uint64_t latency;
  std::uint64_t children;
  std::uint64_t blocked;
  std::uint64_t preempted;
  stacks::CallState state;
  bool tail_call;
  std::uint64_t removed = 0;
  bool end_unknown = false;
};

inline void add(stacks::CallTable& table, const CallRow& row) {
  table.thread.push_back(row.thread);
  table.function.push_back(row.function);
  table.parent.push_back(row.parent);
  table.site.push_back(row.site);
  table.start.push_back(row.start);
  table.latency.push_back(row.latency);
  table.uncertainty.push_back(static_cast<std::uint32_t>(10 * table.function.size())); // 10, 20...
  table.outside.push_back(0);
  table.children.push_back(row.children);
  table.blocked.push_back(row.blocked);
  table.preempted.push_back(row.preempted);
  table.switches.push_back(row.blocked > 0 ? 1 : 0);
  table.state.push_back(row.state);
  table.tail_call.push_back(row.tail_call ? 1 : 0);
  table.removed.push_back(row.removed);
  table.end_unknown.push_back(row.end_unknown ? 1 : 0);
  table.inner.push_back(0);
}

inline measure::Measurement example() {
  using enum stacks::CallState;
  measure::Measurement m;
  m.recording.path = "/r/one";
  m.recording.backend = "intel_pt";
  m.recording.trace_ns = 10'000;
  m.recording.lost_ns = 500;
  m.recording.gaps = 2;
  m.recording.decode_errors = 1;
  m.recording.trace_bytes = 4096;
  m.recording.lost_records = 3;
  m.recording.uncertainty_ns = 42;
  m.recording.off_cpu_known = true;
  m.recording.notes = {make_note("cost", "costs {} here", "nothing")};
  m.recording.missing = {{"/lib/ld.so", "abcd", "no such file"}};
  m.threads = {{.pid = 7,
                .tid = 7,
                .comm = "main",
                .first_ns = 1'000,
                .last_ns = 11'000,
                .lost_ns = 500,
                .gaps = 2,
                .instructions = 99},
               {.pid = 7,
                .tid = 8,
                .comm = "worker",
                .first_ns = 2'000,
                .last_ns = 5'000,
                .lost_ns = 0,
                .gaps = 0,
                .instructions = 11}};
  m.functions = {{.name = "main",
                  .binary = "/bin/app",
                  .address = 0x1000,
                  .file = "/s/a.cpp",
                  .line = 10,
                  .end_line = 20},
                 {.name = "ns::work<int, char>",
                  .binary = "/bin/app",
                  .address = 0xffffffffff600000,
                  .file = "/s/a.cpp",
                  .line = 3,
                  .end_line = 8},
                 {.name = "odd;na\nme",
                  .binary = "[unknown]",
                  .address = 0x30,
                  .file = "",
                  .line = 0,
                  .end_line = 0}};
  m.sites = {{.function = 0_fn, .address = 0x1010, .file = "/s/a.cpp", .line = 12},
             {.function = 1_fn, .address = 0x2020, .file = "", .line = 0}};
  constexpr auto root = stacks::CallIndex::none;
  stacks::CallTable calls;
  add(calls, {0, 0_fn, root, stacks::SiteId::none, 1'000, 9'000, 3'000, 0, 0, incomplete, false});
  add(calls, {0, 1_fn, 0_row, 0_site, 1'500, 1'000, 100, 200, 0, complete, false});
  add(calls, {0, 2_fn, 1_row, 1_site, 1'600, 100, 0, 0, 0, complete, true});
  add(calls, {0, 1_fn, 0_row, 0_site, 4'000, 2'000, 0, 0, 50, unwound, false});
  add(calls, {1, 1_fn, root, stacks::SiteId::none, 1'200, 3'000, 0, 0, 0, complete, false});
  m.cache =
      cache::cache_of(
          calls, {.functions = m.functions, .sites = m.sites, .threads = m.threads, .more = {}})
          .value();
  return m;
}

inline measure::Report example_report() {
  measure::Report report;
  report.function = 1_fn;
  report.complete = 2;
  report.incomplete = 1;
  report.unwound = 1;
  report.latency = {.calls = 2,
                    .mean = 2000,
                    .stddev = 1000,
                    .min = 1000,
                    .max = 3000,
                    .p50 = 1000,
                    .p90 = 3000,
                    .p99 = 3000,
                    .p999 = 3000,
                    .total = 4000,
                    .uncertainty = 42,
                    .within = {.mean = 42,
                               .total = 0,
                               .min = 42,
                               .max = 42,
                               .p50 = 42,
                               .p90 = 42,
                               .p99 = 42,
                               .p999 = 42}};
  report.on_cpu_mean = 1900;
  report.on_cpu_total = 3800;
  report.off_cpu = {
      .mean = 100, .total = 200, .calls = 1, .switches = 1, .blocked = 200, .preempted = 0};
  report.self_mean = 1950;
  report.self_total = 3900;
  report.cpu_percent = 40;
  report.histogram = {{.low = 512, .high = 1024, .calls = 1, .off_cpu_calls = 1},
                      {.low = 1024, .high = 2048, .calls = 0, .off_cpu_calls = 0},
                      {.low = 2048, .high = 4096, .calls = 4, .off_cpu_calls = 0}};
  report.callers = {{.function = 0_fn,
                     .site = 0_site,
                     .latency = report.latency,
                     .off_cpu = report.off_cpu,
                     .cpu_percent = 8},
                    {.function = stacks::FunctionId::none,
                     .site = stacks::SiteId::none,
                     .latency = report.latency,
                     .off_cpu = {},
                     .cpu_percent = 0}};
  report.children = {{.function = 2_fn,
                      .site = 1_site,
                      .latency = report.latency,
                      .off_cpu = {},
                      .cpu_percent = 1}};
  report.threads = {{.thread = 1, .latency = report.latency, .off_cpu = report.off_cpu}};
  return report;
}

} // namespace ptlens::exporting
