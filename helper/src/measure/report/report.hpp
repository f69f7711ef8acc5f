// The report of one function: the func_latency view. The latency of a call is the wall time from
// entry to return. Only complete calls enter statistics. Percentiles are exact (nearest rank over
// all selected calls). cpu_percent is 100 x on-CPU time / (traced time - lost time), 100 being one
// core; it leaves out calls nested in another counted call of the same function, whose time
// includes theirs.
#pragma once

#include "measure/measurement.hpp"
#include "measure/selection/selection.hpp"
#include "measure/statistics/statistics.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::measure {

// A caller or a child, per (function, call site). Calls without a known caller (roots) are in no
// row.
struct RelatedRow {
  std::uint32_t function = stacks::no_call; // no_call: unknown
  std::uint32_t site = stacks::no_site;
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
  std::uint32_t function = 0;
  std::uint64_t complete = 0;
  std::uint64_t incomplete = 0;
  std::uint64_t unwound = 0;
  LatencyStats latency;
};

struct Report {
  std::uint32_t function = 0;
  std::uint64_t complete = 0;
  std::uint64_t incomplete = 0;
  std::uint64_t unwound = 0;
  LatencyStats latency;
  double on_cpu_mean = 0;
  std::uint64_t on_cpu_total = 0;
  OffCpuStats off_cpu;
  // Time with tracing off: system calls, page faults, interrupts, and off-CPU time.
  double outside_mean = 0;
  std::uint64_t outside_total = 0;
  double self_mean = 0;
  std::uint64_t self_total = 0;
  double cpu_percent = 0;           // outermost activations only
  std::vector<Bucket> histogram;    // powers of two, ascending, from the first to the last in use
  std::vector<RelatedRow> callers;  // most total latency first
  std::vector<RelatedRow> children; // most total latency first
  std::vector<ThreadRow> threads;   // with calls of any state; most complete ones first
  // Only in a report about several functions, which starts with `function`; most calls first.
  std::vector<InstanceRow> instances = {};
};

// Returns the report of the calls that the selection accepts. callers and threads group the
// complete calls; children are the complete calls that any of the accepted calls made. The report
// of a function that does not exist is empty.
[[nodiscard]] Report report(const Measurement& measurement, std::uint32_t function,
                            const Selection& selection);

// Returns the report of several functions together, such as the instances of a template. A call of
// one of them in a call of another one is nested. There is at least one function, and all differ.
[[nodiscard]] Report report(const Measurement& measurement,
                            const std::vector<std::uint32_t>& functions,
                            const Selection& selection);

// One row of the table of all functions. `mean` is over complete calls; inclusive, self and off_cpu
// cover calls of every state, so that self sums to the time of the roots; inclusive and off_cpu
// count outermost activations only, so that off_cpu <= inclusive <= traced time of the threads.
struct FunctionRow {
  std::uint32_t function = 0;
  std::uint64_t complete = 0;
  std::uint64_t incomplete = 0;
  std::uint64_t unwound = 0;
  double mean = 0;
  std::uint64_t inclusive = 0;
  std::uint64_t self = 0;
  std::uint64_t off_cpu = 0;
};

// Returns a row for every function that was called, by inclusive time, the largest first, then by
// name.
[[nodiscard]] std::vector<FunctionRow> functions(const Measurement& measurement);

// Returns the name without parameters and template arguments that all functions of a report have;
// where it differs, the last component of the first function's name.
[[nodiscard]] std::string common_name(const Measurement& measurement, const Report& report);

} // namespace ptlens::measure
