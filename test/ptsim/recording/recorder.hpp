// The output of a session's threads, and the mode of perf in which it is recorded.
#pragma once

#include "file/perf_data_writer.hpp"
#include "recording/faults.hpp"

#include <ostream>

namespace ptlens::ptsim {

// Nothing is owned.
struct Recorder {
  PerfDataWriter* file = nullptr;
  Faults* faults = nullptr;
  std::ostream* truth = nullptr;
  std::ostream* filtered_truth = nullptr; // null: there is no filter
  std::ostream* branches = nullptr;       // null: not wanted
  bool per_thread = false;                // buffers of threads, not of CPUs
  bool system_wide = false;               // whatever runs on the processors is recorded
  bool cpu_wide_switches = true;          // switch records of tasks that are not recorded too

  // A switch or mapping record in its place is lost, and the kernel says so.
  bool loses_record(const Stamp& stamp, const char* what) const;
};

} // namespace ptlens::ptsim
