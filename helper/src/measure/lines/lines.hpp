// What the editor draws in one source file: functions declared in it with their figures, and for
// each line with call sites the calls made from it.
#pragma once

#include "measure/measurement.hpp"
#include "measure/report/report.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::measure {

struct LineCallee {
  std::uint32_t function = 0;
  std::uint64_t calls = 0; // complete
  double mean = 0;         // ns, over them
};

struct LineRow {
  std::uint32_t line = 0;
  LatencyStats latency; // complete calls made from the line
  OffCpuStats off_cpu;
  std::uint64_t incomplete = 0;
  std::uint64_t unwound = 0;
  std::vector<LineCallee> callees;         // most calls first
  std::vector<std::uint32_t> holders = {}; // functions whose code makes the calls, ascending
};

struct FileFunction {
  std::uint32_t function = 0;
  Report report; // without callers, children and threads
};

struct FileLines {
  std::string file;                    // as the debug information names it
  std::vector<FileFunction> functions; // by line
  std::vector<LineRow> lines;          // by line
};

// Functions and sites of `file`, which matches by the end of its path; an exact path is preferred,
// then the one that shares most components. Functions that were never called are left out. Errors:
// not_found with source files that the recording does hold, bad_input when several answer equally.
[[nodiscard]] Result<FileLines> lines(const Measurement& measurement, const std::string& file);

} // namespace ptlens::measure
