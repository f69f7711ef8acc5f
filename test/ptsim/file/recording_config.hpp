// What a perf.data file says about itself before the first event: events, trace buffers, threads,
// clocks.
#pragma once

#include "trace/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ptlens::ptsim {

// One ring buffer of the kernel with its AUX buffer; its number is its place in the recording's
// list.
struct Lane {
  std::int32_t cpu = -1; // -1: the buffer of one thread, on whatever CPU it runs
  pid_t tid = -1;        // of a CPU's buffer: the first thread recorded, -1: whatever runs there
  bool traced = true;    // else the CPU's other records alone
  bool recorded = true;  // records other than of trace are kept
};

struct Task {
  pid_t pid = -1;
  pid_t tid = -1;

  bool operator==(const Task&) const = default;
};

inline constexpr Task idle_task{0, 0};

struct RecordedThread {
  pid_t tid = -1;
  std::string name;
};

// The second event of a recording, for everything but trace.
inline constexpr const char* tracking_event_name = "dummy:u";

struct RecordingConfig {
  std::string path;
  std::vector<std::string> command_line;
  std::string event; // as given with -e
  std::uint64_t event_config = 0;
  bool per_thread = false;    // lanes of threads, else of CPUs
  bool switch_events = false; // always on per CPU
  bool privileged = true;     // per CPU: switches of all tasks, not of the recorded ones alone
  bool inherit = false;       // threads and processes that the recorded ones make are recorded too
  bool build_ids = true;
  bool snapshot = false;
  bool kernel = false; // the kernel is traced too
  std::string filter;  // address filters, as perf resolves them
  std::vector<Lane> lanes;
  std::vector<RecordedThread> threads; // when recording began
  ClockRates rates;
  TimeConversion conversion;

  [[nodiscard]] bool cpu_wide_switches() const { return !per_thread && privileged; }
};

} // namespace ptlens::ptsim
