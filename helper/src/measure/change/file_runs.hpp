// The calls of one source file, to be compared with those of another recording.
#pragma once

#include "measure/change/change.hpp"
#include "measure/lines/lines.hpp"

#include <cstdint>
#include <map>

namespace ptlens::measure {

struct FileRuns {
  std::map<stacks::FunctionId, RunOfCalls> functions; // that the file declares
  std::map<std::uint32_t, RunOfCalls> lines;          // the calls made from each line
};

// Reads the latencies of all calls of the file.
[[nodiscard]] FileRuns file_runs(const Measurement& measurement, const FileLines& lines);

} // namespace ptlens::measure
