// What both backends do after perf has run.
#pragma once

#include "record/machine/machine.hpp"
#include "record/manifest.hpp"
#include "record/perf/session.hpp"
#include "record/request.hpp"
#include "record/summary.hpp"

#include <string>
#include <vector>

namespace ptlens::record {

// With a copy of the kernel's code, perf writes a folder instead of a file. This file of the folder
// contains the trace.
inline constexpr const char* data_in_folder = "data";

struct FinishedSession {
  SessionEnd end = {};
  std::string data_file = {}; // never a folder
  const Request* request = nullptr;
};

// Returns true when perf opened its events and ran. Its answer to the first command proves it. A
// program that perf started can end before perf reads a command; then a readable data file does.
[[nodiscard]] bool has_measured(const FinishedSession& finished);

// Checks what perf wrote, because perf can exit with 0 and no samples, or with the status of the
// program and a good recording. Adds notes about missing data. Errors: failed with the last line of
// perf's output when there is no recording.
[[nodiscard]] Result<Summary> finish_recording(const FinishedSession& finished,
                                               const Machine& machine, Manifest& manifest);

} // namespace ptlens::record
