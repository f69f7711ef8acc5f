// ptsim's command line: that of `perf record` as far as the helper uses it, and ptsim's own
// options.
#pragma once

#include "base/error.hpp"
#include "code/address_filter.hpp"
#include "command/control.hpp"
#include "recording/faults.hpp"
#include "trace/trace_unit.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ptlens::ptsim {

struct Options {
  // perf record's
  std::string event; // as given
  TraceUnitConfig trace;
  std::uint64_t event_config = 0;
  bool per_thread = false;
  bool switch_events = false;
  bool build_ids = true;
  bool keep_kernel = false; // --kcore: `output` is a folder, with the data and a made-up kernel
  bool kernel = false;      // the event says that the kernel is traced: it is not
  std::uint64_t aux_bytes = 4 << 20;
  std::string output = "perf.data";
  std::optional<pid_t> pid;
  std::optional<pid_t> tid;
  std::vector<std::string> program;
  bool system_wide = false;               // -a or -C: whatever runs on the processors
  std::optional<std::string> cpu_list;    // -C: these are traced alone
  std::vector<std::uint32_t> traced_cpus; // of `cpus`, in order
  bool start_enabled = true;              // -D -1: wait for the command to enable
  std::vector<AddressFilter> filters;
  bool snapshot = false;
  bool snapshot_at_end = false;
  std::uint64_t snapshot_size = 0; // bytes, 0: all of the buffer
  ControlFiles control;

  // ptsim's own
  bool unprivileged = false; // what perf records without the right to see other tasks' switches
  std::vector<pid_t> beside; // with -a, -C: other processes that run on the simulated processors
  bool all_records = false;  // with -C: records of the other processors too, as perf since 6.7
  std::uint32_t cpus = 2;
  std::uint64_t seed = 1;
  std::uint64_t slice_cycles = 60'000; // mean time until a thread may be preempted, 0: never
  FaultPlan faults;
  std::string truth;           // path
  std::string branches;        // path, empty: none
  std::uint64_t max_steps = 0; // 0: no limit
  std::uint64_t wait_scale = 1;
  std::string start_at; // symbol or address, "exec": the first instruction of all
  std::string stop_at;

  std::vector<std::string> command_line;
  std::vector<std::string> warnings; // of options that have no meaning here
};

// Errors: unsupported and bad_input; main exits 129 with them, as perf does for bad usage.
Result<Options> parse_options(const std::vector<std::string>& arguments);

// The text for --help.
[[nodiscard]] std::string usage();

// The trace configuration and perf_event_attr.config of "intel_pt/TERMS/u" with perf's defaults.
Result<void> parse_event(const std::string& event, Options& options);

} // namespace ptlens::ptsim
