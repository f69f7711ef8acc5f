// The figures of a report, as plain values.
#pragma once

#include "measure/measurement.hpp"
#include "measure/statistics/statistics.hpp"
#include "stacks/calls/call_states.hpp"

#include <cstdint>
#include <vector>

namespace ptlens::measure {

// A caller or a child, per (function, call site). Calls without a known caller (roots) are in no
// row.
struct RelatedRow {
  stacks::FunctionId function = stacks::FunctionId::none;
  stacks::SiteId site = stacks::SiteId::none;
  LatencyStats latency;
  OffCpuStats off_cpu;
  double cpu_percent = 0;
};

struct ThreadRow {
  std::uint32_t thread = 0;
  std::uint64_t incomplete = 0;
  std::uint64_t unwound = 0;
  LatencyStats latency;
  OffCpuStats off_cpu;
};

// One of several functions of a report.
struct InstanceRow {
  stacks::FunctionId function{};
  std::uint64_t complete = 0;
  std::uint64_t incomplete = 0;
  std::uint64_t unwound = 0;
  LatencyStats latency;
};

struct Report {
  stacks::FunctionId function{};
  std::uint64_t complete = 0;
  std::uint64_t incomplete = 0;
  std::uint64_t unwound = 0;
  stacks::CallStates states = {stacks::CallState::complete}; // that the figures are of
  LatencyStats latency;
  double on_cpu_mean = 0;
  double on_cpu_within = 0; // ± ns, like those of the others; 0: no time of probes was removed
  double on_cpu_total_within = 0;
  std::uint64_t on_cpu_total = 0;
  OffCpuStats off_cpu;
  // Time with tracing off: system calls, page faults, interrupts, and off-CPU time.
  double outside_mean = 0;
  std::uint64_t outside_total = 0;
  double self_mean = 0;
  std::uint64_t self_total = 0;
  double self_within = 0;
  double self_total_within = 0;
  bool self_known = true;           // all that the function calls was measured
  double cpu_percent = 0;           // outermost activations only
  std::vector<Bucket> histogram;    // powers of two, ascending, from the first to the last in use
  std::vector<RelatedRow> callers;  // most total latency first
  std::vector<RelatedRow> children; // most total latency first
  std::vector<ThreadRow> threads;   // with calls of any state; most complete ones first
  // Only in a report about several functions, which starts with `function`; most calls first.
  std::vector<InstanceRow> instances = {};
};

} // namespace ptlens::measure
