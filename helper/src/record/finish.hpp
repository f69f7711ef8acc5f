// What both backends do before and after perf has run.
#pragma once

#include "record/machine/machine.hpp"
#include "record/manifest.hpp"
#include "record/perf/session.hpp"
#include "record/probes/probe_cost.hpp"
#include "record/recorder.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ptlens::record {

// The session that the request describes, with that command.
[[nodiscard]] Session session_of(const Request& request, const std::vector<std::string>& command);

// The trace in the folder that perf makes of its data file where it keeps the kernel's code.
inline constexpr const char* data_in_folder = "data";

struct FinishedSession {
  SessionEnd end = {};
  std::string data_file = {}; // never a folder
  const Request* request = nullptr;
  std::optional<ProbeCost> probe_cost = {}; // where it was measured
};

// Whether perf set what it was asked to and ran. That it answered the first command proves it; a
// program that it started may be over before perf reads any, and then its file does.
[[nodiscard]] bool has_measured(const FinishedSession& finished);

// Looks at what perf wrote: perf can exit with 0 and no samples, and with the program's status and
// a good recording. Adds notes about what is missing. Errors: failed with what perf said when there
// is no recording.
[[nodiscard]] Result<Summary> finish_recording(const FinishedSession& finished,
                                               const Machine& machine, Manifest& manifest);

} // namespace ptlens::record
