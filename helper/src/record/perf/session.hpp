// One run of `perf record`: waits until perf records, for the duration, and stops it.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "record/perf/perf_control.hpp"
#include "record/request.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::record {

struct Session {
  std::vector<std::string> arguments;   // of perf, with the argument of PerfControl
  std::string working_directory;        // absolute or empty
  std::vector<std::string> environment; // "NAME=VALUE"
  double duration_s = 0;                // 0: no limit
  std::int32_t watched_pid = -1;        // the session ends with this process; -1: none
  std::uint64_t watched_start_time = 0; // field 22 of its /proc/PID/stat
  std::string stage = "recording";      // name in progress reports
  bool snapshots = false;               // perf runs in snapshot mode
  bool drains = false;                  // perf writes what it has several times a second
  std::function<bool()> caught = {};    // called often; true: save a snapshot and end
};

// Returns the session that the request describes, with that command.
[[nodiscard]] Session session_of(const Request& request, const std::vector<std::string>& command);

struct SessionEnd {
  bool measured = false;  // perf reported that it started to record
  int wait_status = 0;    // of perf, as wait(2) gives it
  bool forced = false;    // perf did not stop on request and was killed
  double measured_s = 0;  // from the start to the request to stop
  unsigned snapshots = 0; // that were requested while it ran
  std::string output;     // of perf and the started program: beginning and end
  std::string last_line;  // of output
};

// Runs the session. Errors: cancelled, and the errors of Child::start. A failure of perf itself is
// not an error; the caller checks what perf wrote. Neither perf nor the program that it started is
// left behind, whatever the result.
[[nodiscard]] Result<SessionEnd> run_session(const Session& session, PerfControl control,
                                             const Progress& progress);

} // namespace ptlens::record
