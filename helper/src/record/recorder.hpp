// Makes a recording: picks the backend, drives `perf record`, writes DIR/perf.data and
// DIR/manifest.json.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "record/manifest.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::record {

struct Request {
  // One of these five.
  std::optional<std::int32_t> pid;
  std::optional<std::int32_t> tid;
  std::optional<std::int32_t> cpu;
  bool all_cpus = false;
  std::vector<std::string> program;        // argv
  std::string working_directory;           // of the started program, empty: ours
  std::vector<std::string> environment;    // "NAME=VALUE" added for the started program
  std::optional<std::uint64_t> start_time; // of pid, clock ticks since boot (/proc/PID/stat field
                                           // 22): recording is refused when it differs

  std::string function;                 // name, or NAME@0xADDRESS; needed by the uprobe backend
  bool all = false;                     // every function that answers to the name
  std::optional<std::uint64_t> address; // ELF address of its entry, instead of a name
  std::string binary;    // that holds it; empty: the program's executable, then its libraries
  double duration_s = 0; // 0: until the target ends or finish() is asked
  std::string backend = "auto"; // auto, intel_pt, uprobe
  bool filter = false;
  bool snapshot = false;            // keep the last of the trace alone: at the end, or as asked for
  std::uint64_t slower_than_ns = 0; // with snapshot: one is taken, and the recording ends, when a
                                    // call of the function took longer; 0: not asked for
  bool kernel = false;
  // Whether a short recording is made first, to tell how much data there will be, and what was
  // asked for is changed so that it fits. Nothing: where the machine has Intel PT.
  std::optional<bool> probe;
  std::string perf;   // path, empty: from PATH
  std::string output; // DIR, made when absent; a recording already there is refused
};

// What was asked for, what was recorded and what was lost on the way.
struct Summary {
  std::string target;              // "process 42"
  double asked_s = 0;              // 0: until its end
  double traced_s = 0;             // from the first command to perf to the last
  std::uint64_t traced_bytes = 0;  // of trace
  std::uint64_t hits = 0;          // of probes
  std::uint64_t threads = 0;       // that were seen to run
  std::uint64_t truncated = 0;     // times that a trace buffer was full and trace was lost
  std::uint64_t lost_records = 0;  // of perf's own
  std::vector<std::string> advice; // what to change, one line each
};

struct Outcome {
  std::string directory;
  Manifest manifest;
  std::uint64_t bytes = 0; // of perf.data
  Summary summary = {};
};

// Runs until the duration is over, the target ends, progress.finish() or progress.cancel(). Leaves
// no probe and no child process behind on any way out; cancel also removes the directory it made.
Result<Outcome> record(const Request& request, const Progress& progress);

// Removes probes that an earlier helper left when it was killed. Returns how many.
Result<std::size_t> remove_stale_probes();

} // namespace ptlens::record
