// What was asked for, what was recorded, what was lost, and what to change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::record {

struct Summary {
  std::string target;              // "process 42"
  double asked_s = 0;              // 0: until the target ends
  double traced_s = 0;             // from the command that starts perf to the one that stops it
  std::uint64_t traced_bytes = 0;  // of trace
  std::uint64_t hits = 0;          // of probes
  std::uint64_t threads = 0;       // that ran during the recording
  std::uint64_t truncated = 0;     // times that a trace buffer was full and trace was lost
  std::uint64_t lost_records = 0;  // records that perf itself lost
  std::vector<std::string> advice; // what to change, one line each
};

} // namespace ptlens::record
