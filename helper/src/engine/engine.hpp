// Makes a Measurement from a recording: chooses the backend, decodes, builds the calls. The command
// line and the server use it and measure/.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "engine/recording/open_options.hpp"
#include "engine/recording/source_map.hpp"
#include "engine/trace/branch_listener.hpp"
#include "flow/runs/run.hpp"
#include "flow/segments/branch_source.hpp"
#include "line_time/line_times.hpp"
#include "measure/measurement.hpp"
#include "measure/report/inlined.hpp"
#include "measure/timeline/timeline.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::engine {

// Opens a perf.data file, a folder that `ptlens record` or `uftrace record` wrote, or a bundle.
// Errors: those of load(), and bad_input when it contains neither a PT trace, nor one of our
// probes, nor function records of uftrace.
[[nodiscard]] Result<std::shared_ptr<const measure::Measurement>>
open(const std::string& recording, const OpenOptions& options, const Progress& progress);

// Decodes the recording with the executions of inlined functions as calls: of those that match
// `name` by the rules of symbols::Binary::find. `binary`: a path or the end of a path, empty for
// any. Returns null, without decoding, where no such function was inlined. Errors: those of open.
[[nodiscard]] Result<std::shared_ptr<const measure::InlinedMeasurement>>
inlined(const std::string& recording, const OpenOptions& options, const std::string& name,
        const std::string& binary, const Progress& progress);

// Decodes the recording again, for the time and the executions of the lines of some functions,
// which are identified by binary and address. Returns null where the recording has no trace.
// Errors: those of open, and not_found where none of the functions has lines.
[[nodiscard]] Result<std::shared_ptr<const line_time::LineTimes>>
line_times(const std::string& recording, const OpenOptions& options,
           const std::vector<stacks::FunctionInfo>& functions, const Progress& progress);

// Decodes the recording again, to find the branch at which the call of a time line and its twin
// part. Returns nothing where the recording has no trace, or both took the same branches. Errors:
// those of open.
[[nodiscard]] Result<std::optional<measure::Parting>>
parting(const std::string& recording, const OpenOptions& options,
        const measure::Measurement& measurement, const measure::Timeline& timeline,
        const Progress& progress);

struct Opened {
  std::shared_ptr<const measure::Measurement> measurement;
  std::shared_ptr<const measure::InlinedMeasurement> inlined; // null where inlined nowhere
};

// Opens the recording, and measures the executions of the name where it was inlined.
[[nodiscard]] Result<Opened> open_with_inlined(const std::string& recording,
                                               const OpenOptions& options, const std::string& name,
                                               const std::string& binary, const Progress& progress);

// Decodes the trace and gives every branch to the listener. `calls_only` leaves out jump, cond and
// indirect except tail calls.
[[nodiscard]] Result<flow::DecodeSummary> decode(const std::string& recording,
                                                 const OpenOptions& options, bool calls_only,
                                                 const BranchListener& listener,
                                                 const Progress& progress);

} // namespace ptlens::engine
