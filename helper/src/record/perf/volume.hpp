// The expected amount of trace, measured by a short recording, and the changes to a request that
// make it fit the buffers and the disk.
#pragma once

#include "base/error.hpp"
#include "base/note.hpp"
#include "base/progress.hpp"
#include "record/perf/perf_control.hpp"
#include "record/request.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::record {

struct Volume {
  double seconds = 0;                       // of the short recording
  std::uint64_t bytes = 0;                  // of trace in it
  bool truncated = false;                   // a buffer was full
  std::optional<std::int32_t> busiest = {}; // busiest thread of the process
  double busiest_share = 1;                 // of the CPU time of all threads
};

struct Room {
  std::uint64_t buffer_bytes = 0; // all AUX buffers together
  std::uint64_t disk_bytes = 0;   // free on the disk of the recording
  bool may_filter = false;        // supported, and the function has one range
};

struct VolumeChoice {
  bool filter = false;
  std::optional<double> duration_s = {};   // shorter than requested
  std::optional<std::int32_t> thread = {}; // the only thread to record
  std::vector<Note> reasons = {};          // empty: the request is unchanged
};

// Chooses the changes that make the request fit. perf copies about 200 MB/s from the buffers to a
// file; the rest of a faster trace stays in the buffers until they are full. The first choice is
// the address filter. The second is a shorter time, if it is at least 0.1 s and a tenth of the
// requested time. The third is the busiest thread, for as long as it fits.
[[nodiscard]] VolumeChoice choose_volume(const Request& request, const Volume& volume,
                                         const Room& room);

// Records the request's target for 50 ms with a command that writes `data_file`. Returns nothing
// when that fails; the recording itself then reports the reason. Errors: cancelled.
[[nodiscard]] Result<std::optional<Volume>>
measure_volume(const Request& request, const std::vector<std::string>& command,
               const std::string& data_file, PerfControl control, const Progress& progress);

} // namespace ptlens::record
