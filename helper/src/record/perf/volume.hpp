// How much trace there will be, from a short recording made before, and what to change so that it
// fits the buffers and the disk.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "record/processes/perf_control.hpp"
#include "record/recorder.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::record {

struct Volume {
  double seconds = 0;                       // of the short recording
  std::uint64_t bytes = 0;                  // of trace in it
  bool truncated = false;                   // a buffer was full already
  std::optional<std::int32_t> busiest = {}; // of the threads of the process
  double busiest_share = 1;                 // of the CPU time of all of them
};

struct Room {
  std::uint64_t buffer_bytes = 0; // all AUX buffers together
  std::uint64_t disk_bytes = 0;   // free where the recording goes
  bool may_filter = false;        // hardware and kernel can, and the function is one range
};

struct VolumeChoice {
  bool filter = false;
  std::optional<double> duration_s = {};   // shorter than what was asked for
  std::optional<std::int32_t> thread = {}; // this one alone
  std::vector<std::string> reasons = {};   // one line each; empty: nothing is changed
};

// Perf takes about 200 MB/s out of the buffers and into a file; what comes faster stays in them
// until they are full. First choice: the address filter. Second: a shorter time, where at least a
// tenth of what was asked for is left and 0.1 s. Third: the busiest thread, for as long as fits.
[[nodiscard]] VolumeChoice choose_volume(const Request& request, const Volume& volume,
                                         const Room& room);

// Makes the short recording: 50 ms of the request's target, with that command, which writes that
// data file. Nothing where it could not be made: the recording itself then says why. Errors:
// cancelled.
[[nodiscard]] Result<std::optional<Volume>>
probe_volume(const Request& request, const std::vector<std::string>& command,
             const std::string& data_file, PerfControl control, const Progress& progress);

} // namespace ptlens::record
