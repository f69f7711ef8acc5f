// From a recording to a Measurement: picks the backend, decodes, rebuilds the calls. The command
// line and the server stand on this and on measure/.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "engine/recording/source_map.hpp"
#include "flow/runs/run.hpp"
#include "flow/segments/branch_source.hpp"
#include "line_time/line_times.hpp"
#include "measure/measurement.hpp"
#include "measure/report/inlined.hpp"
#include "measure/report/watched_function.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::engine {

struct OpenOptions {
  std::string symfs;         // empty: none
  std::string kallsyms = {}; // of the traced kernel; empty: that of the recording's kcore_dir
  std::string kcore = {};    // its code; empty: beside kallsyms
  SourceMap source_map = {}; // where the sources are that it was built from
  flow::Decoder decoder = flow::Decoder::graph;
  unsigned workers = 0; // threads that decode; 0: one for each processor
  // Trace is cut at PSBs into segments of at least so many bytes, for the workers to share.
  std::uint64_t segment_bytes = flow::DecodeOptions{}.segment_bytes;
  // About what decoding may take beside the mapped recording and the symbols; 0: a quarter of the
  // machine's memory.
  std::uint64_t memory_bytes = 0;
  std::optional<std::int32_t> pid = {}; // only this process of the recording; nothing: all
  bool inlined_names = false;           // fill Measurement::inlined_names: reads all DIEs
  measure::Watch watch = {};            // told about one function while the trace is decoded
  bool keep = false; // answer from the store of an earlier decode, and leave one: kept_calls.hpp
};

// RECORDING is a perf.data file or a directory that `ptlens record` wrote. Errors: those of
// perfdata::Recording::open, and bad_input when there is neither PT nor one of our probes in it.
[[nodiscard]] Result<std::shared_ptr<const measure::Measurement>>
open(const std::string& recording, const OpenOptions& options, const Progress& progress);

// Decodes with the executions of inlined functions that answer to `name` by the rules of
// symbols::Binary::find as calls; `binary`: a path or its end, empty for any. Null where no such
// function was inlined: nothing is decoded then. Errors: those of open.
[[nodiscard]] Result<std::shared_ptr<const measure::InlinedMeasurement>>
inlined(const std::string& recording, const OpenOptions& options, const std::string& name,
        const std::string& binary, const Progress& progress);

// Decodes once more, for the time and the executions of the lines of some functions, as a
// measurement of the recording names them: by binary and address. Null where the recording has no
// trace. Errors: those of open, and not_found where none of the functions has lines.
[[nodiscard]] Result<std::shared_ptr<const measure::LineTimes>>
line_times(const std::string& recording, const OpenOptions& options,
           const std::vector<stacks::FunctionInfo>& functions, const Progress& progress);

struct Opened {
  std::shared_ptr<const measure::Measurement> measurement;
  std::shared_ptr<const measure::InlinedMeasurement> inlined; // null where inlined nowhere
};

// The calls, and where the name was inlined somewhere, its executions.
[[nodiscard]] Result<Opened> open_with_inlined(const std::string& recording,
                                               const OpenOptions& options, const std::string& name,
                                               const std::string& binary, const Progress& progress);

// A decoded branch: its kind as a word ("tail" for a jump that is a tail call), and the name of
// what it goes to ("function+0x12"; of where it comes from when `to` is 0).
using BranchListener = std::function<void(const flow::Run& run, const flow::Branch& branch,
                                          std::string_view kind, std::string_view symbol)>;

// `calls_only` leaves out jump, cond and indirect except tail calls.
[[nodiscard]] Result<flow::DecodeSummary> decode(const std::string& recording,
                                                 const OpenOptions& options, bool calls_only,
                                                 const BranchListener& listener,
                                                 const Progress& progress);

} // namespace ptlens::engine
