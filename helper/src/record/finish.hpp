// What both backends do before and after perf has run.
#pragma once

#include "record/manifest.hpp"
#include "record/recorder.hpp"
#include "record/session.hpp"

#include <string>
#include <vector>

namespace ptlens::record {

// The session that the request describes, with that command.
[[nodiscard]] Session session_of(const Request& request, const std::vector<std::string>& command);

struct FinishedSession {
  SessionEnd end = {};
  std::string data_file = {};
  const Request* request = nullptr;
};

// Looks at what perf wrote: perf can exit with 0 and no samples, and with the program's status and
// a good recording. Adds notes about what is missing. Errors: failed with what perf said when there
// is no recording.
[[nodiscard]] Result<void> finish_recording(const FinishedSession& finished, Manifest& manifest);

} // namespace ptlens::record
