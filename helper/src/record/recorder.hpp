// Makes a recording: picks the backend, runs `perf record` or `uftrace record`, writes
// DIR/perf.data or DIR/uftrace.data, and DIR/manifest.json.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "record/companion.hpp"
#include "record/manifest.hpp"
#include "record/request.hpp"
#include "record/summary.hpp"

#include <cstdint>
#include <string>

namespace ptlens::record {

struct Outcome {
  std::string directory;
  Manifest manifest;
  std::uint64_t bytes = 0; // of perf.data or uftrace.data
  Summary summary = {};
};

// Records until the duration is over, the target ends, or progress.finish() or progress.cancel() is
// called. Leaves no probe and no child process behind, whatever the result. After a cancellation or
// an error it also removes the directory that it created. `companion` works while Intel PT traces;
// null: none.
Result<Outcome> record(const Request& request, const Progress& progress,
                       Companion* companion = nullptr);

} // namespace ptlens::record
