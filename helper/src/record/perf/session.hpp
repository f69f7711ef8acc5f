// One run of `perf record` from start to end: waits until it measures, for how long it should, and
// makes it stop.
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
  std::vector<std::string> arguments;   // of perf, with --control as `control` says
  std::string working_directory;        // absolute or empty
  std::vector<std::string> environment; // "NAME=VALUE"
  double duration_s = 0;                // 0: no limit
  std::int32_t watched_pid = -1;        // ends the session when it ends; -1: none
  std::uint64_t watched_start_time = 0; // field 22 of its /proc/PID/stat
  std::string stage = "recording";      // what progress reports call it
  bool snapshots = false;               // perf keeps the last alone: it may be told to save it
  std::function<bool()> caught = {};    // asked often; true: save a snapshot, then end the session
};

// Returns the session that the request describes, with that command.
[[nodiscard]] Session session_of(const Request& request, const std::vector<std::string>& command);

struct SessionEnd {
  bool measured = false;  // perf said that it had begun
  int wait_status = 0;    // of perf, as wait(2) gives it
  bool forced = false;    // it did not stop when asked and was killed
  double measured_s = 0;  // from the beginning to the request to stop
  unsigned snapshots = 0; // that were asked for while it ran
  std::string output;     // what perf and the started program printed, its beginning and its end
  std::string last_line;  // of it
};

// Errors: cancelled, and those of Child::start. perf's own failure is not one: the caller looks at
// what it wrote. On every way out neither perf nor the program that it started is left.
[[nodiscard]] Result<SessionEnd> run_session(const Session& session, PerfControl control,
                                             const Progress& progress);

} // namespace ptlens::record
