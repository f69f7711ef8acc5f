// The figures of one source file: of the functions that it declares, and of the calls made from
// each line with call sites.
#pragma once

#include "measure/measurement.hpp"
#include "measure/report/report.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::measure {

struct LineCallee {
  stacks::FunctionId function{};
  std::uint64_t calls = 0; // complete
  double mean = 0;         // ns, over them
  std::uint64_t incomplete = 0;
  std::uint64_t unwound = 0;
  double within = 0;      // ± ns; 0 where no time of probes was removed
  bool tail_call = false; // the line jumps to it in place of a call and a return
  // The functions that it jumped to in its turn, most calls first: control returned from them.
  std::vector<stacks::FunctionId> tail_callees = {};
};

struct LineRow {
  std::uint32_t line = 0;
  LatencyStats latency; // complete calls made from the line
  OffCpuStats off_cpu;
  std::uint64_t incomplete = 0;
  std::uint64_t unwound = 0;
  std::vector<LineCallee> callees;              // most calls first
  std::vector<stacks::FunctionId> holders = {}; // the functions that make the calls, ascending
  std::vector<cache::EdgeId> edges = {};        // of the calls
};

struct FileFunction {
  stacks::FunctionId function{};
  Report report; // without callers, children and threads
};

struct FileLines {
  std::string file;                    // its path in the debug information
  std::vector<FileFunction> functions; // by line
  std::vector<LineRow> lines;          // by line
};

// Returns the functions and lines of `file`, which matches the end of a path; an exact path is
// preferred, then the path that shares most components. Leaves out functions that were never
// called. Errors: not_found with source files of the recording, bad_input when several files match
// equally.
[[nodiscard]] Result<FileLines> lines(const Measurement& measurement, const std::string& file);

} // namespace ptlens::measure
