// The report of one function: the func_latency view. The latency of a call is the wall time from
// entry to return. Only complete calls enter statistics. Percentiles are exact (nearest rank over
// all selected calls). cpu_percent is 100 x on-CPU time / (traced time - lost time), 100 being one
// core; it leaves out calls nested in another counted call of the same function, whose time
// includes theirs.
#pragma once

#include "measure/measurement.hpp"
#include "measure/report/report_figures.hpp"
#include "measure/selection/selection.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptlens::measure {

// Returns the report of the calls that the selection accepts. callers and threads group the
// complete calls; children are the complete calls that any of the accepted calls made. The report
// of a function that does not exist is empty.
[[nodiscard]] Report report(const Measurement& measurement, stacks::FunctionId function,
                            const Selection& selection);

// Returns the report of several functions together, such as the instances of a template. A call of
// one of them in a call of another one is nested. There is at least one function, and all differ.
[[nodiscard]] Report report(const Measurement& measurement,
                            const std::vector<stacks::FunctionId>& functions,
                            const Selection& selection);

// One row of the table of all functions. `mean` is over complete calls; inclusive, self and off_cpu
// cover calls of every state, so that self sums to the time of the roots; inclusive and off_cpu
// count outermost activations only, so that off_cpu <= inclusive <= traced time of the threads.
struct FunctionRow {
  stacks::FunctionId function{};
  std::uint64_t complete = 0;
  std::uint64_t incomplete = 0;
  std::uint64_t unwound = 0;
  double mean = 0;
  std::uint64_t inclusive = 0;
  std::uint64_t self = 0;
  std::uint64_t off_cpu = 0;
  // ± ns; 0 where no time of probes was removed
  double mean_within = 0;
  std::uint64_t inclusive_within = 0;
  std::uint64_t self_within = 0;
  bool self_known = true;    // all that the function calls was measured
  bool self_at_most = false; // trace was lost in its own time
};

// Returns the latency of the same calls as the report, with the time of probes. Nothing where no
// probes measured, or no call is complete.
[[nodiscard]] std::optional<LatencyStats> raw_latency(const Measurement& measurement,
                                                      std::span<const stacks::FunctionId> functions,
                                                      const Selection& selection);

// Returns a row for every function that was called, by inclusive time, the largest first, then by
// name.
[[nodiscard]] std::vector<FunctionRow> functions(const Measurement& measurement);

// Returns the name without parameters and template arguments that all functions of a report have;
// where it differs, the last component of the first function's name.
[[nodiscard]] std::string common_name(const Measurement& measurement, const Report& report);

} // namespace ptlens::measure
