// Everything about one function: the func_latency view. Meaning of every number: latency is wall
// time from entry to return; only complete calls enter statistics; percentiles are exact (nearest
// rank over all calls asked about). cpu_percent is 100 x on-CPU time / (traced time - lost time),
// 100 being one core, and leaves out calls inside another counted call of the same function, whose
// time the outer one holds already.
#pragma once

#include "measure/measurement.hpp"
#include "measure/selection/selection.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::measure {

struct LatencyStats { // ns; all 0 when there is no complete call
  std::uint64_t calls = 0;
  double mean = 0;
  double stddev = 0; // of the population
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  std::uint64_t p50 = 0;
  std::uint64_t p90 = 0;
  std::uint64_t p99 = 0;
  std::uint64_t p999 = 0;
  std::uint64_t total = 0;
  std::uint64_t uncertainty = 0; // nineteen of twenty are right to within this, either way
};

struct OffCpuStats {
  double mean = 0; // over all complete calls
  std::uint64_t total = 0;
  std::uint64_t calls = 0; // that were switched out at least once
  std::uint64_t switches = 0;
  std::uint64_t blocked = 0; // part of total
  std::uint64_t preempted = 0;
};

// [low, high) ns. Powers of two, [2^k, 2^(k+1)); a call of 0 ns goes to [0, 1). The last bucket
// possible ends at 2^64 - 1, which it includes.
struct Bucket {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint64_t calls = 0;
  std::uint64_t off_cpu_calls = 0; // of them, switched out at least once
};

// A caller or a child, per (function, call site). A call without a known caller (a root) is in no
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

// One of the functions that a report is about together.
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
  // With tracing off: system calls, page faults, interrupts; off-CPU time among it.
  double outside_mean = 0;
  std::uint64_t outside_total = 0;
  double self_mean = 0;
  std::uint64_t self_total = 0;
  double cpu_percent = 0;           // outermost activations only
  std::vector<Bucket> histogram;    // powers of two, ascending, from the first to the last in use
  std::vector<RelatedRow> callers;  // most total latency first
  std::vector<RelatedRow> children; // most total latency first
  std::vector<ThreadRow> threads;   // those with calls of any state; most complete ones first
  // Of a report about several functions, `function` being the first of them; most calls first.
  std::vector<InstanceRow> instances = {};
};

// Of the calls that the selection admits. callers and threads group its complete calls; children
// are the complete calls made from any of them, complete or not. A function that does not exist
// gives an empty report.
[[nodiscard]] Report report(const Measurement& measurement, std::uint32_t function,
                            const Selection& selection);

// The same of several functions together, such as the instances of a template: a call inside one
// of another of them is no outermost one. The functions are one at least, each once.
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

// Of every function that was called. Most inclusive time first, then by name.
[[nodiscard]] std::vector<FunctionRow> functions(const Measurement& measurement);

} // namespace ptlens::measure
