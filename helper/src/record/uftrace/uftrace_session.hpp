// One run of `uftrace record`: waits until the program runs, for the duration, and ends the
// program, after which uftrace writes the rest of its data.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::record {

struct UftraceSession {
  std::vector<std::string> command;
  std::string folder;                   // of the data
  std::string working_directory;        // absolute or empty
  std::vector<std::string> environment; // "NAME=VALUE"
  double duration_s = 0;                // 0: no limit
  std::uint64_t most_bytes = 0;         // of the data; 0: no limit
};

struct UftraceEnd {
  double measured_s = 0;
  int wait_status = 0;     // of uftrace
  bool stopped = false;    // the program was asked to end
  bool full = false;       // because its data reached most_bytes
  bool forced = false;     // uftrace had to be killed
  std::uint64_t bytes = 0; // of function records
  std::string last_line;   // of the output of uftrace and the program
};

// Runs the session. Errors: cancelled, and the errors of Child::start. Leaves neither uftrace nor
// the program behind, nor shared memory of theirs.
[[nodiscard]] Result<UftraceEnd> run_uftrace(const UftraceSession& session,
                                             const Progress& progress);

} // namespace ptlens::record
