// The subcommands and their options. Every function prints its result to stdout.
#pragma once

#include "base/error.hpp"
#include "engine/engine.hpp"
#include "measure/selection/selection_text.hpp"
#include "record/recorder.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::cli {

struct RecordingOptions {
  std::string recording;
  std::string symfs;
  std::string kallsyms;
  std::string kcore;
  engine::SourceMap source_map;
  std::string decoder = "fast";
  unsigned workers = 0;
  std::uint64_t segment_bytes = engine::OpenOptions{}.segment_bytes;
  std::uint64_t memory_bytes = 0; // 0: a quarter of the memory
  std::int32_t pid = 0;           // 0: all processes
  bool no_cache = false;
  bool cache_removed = false; // because it was damaged
  bool json = false;
};

struct QueryOptions {
  RecordingOptions source;
  measure::SelectionText selection;
  std::string function;
  std::vector<std::string> functions; // of `report`, instead of `function`: a report on each
  std::string binary;
  bool all = false; // report all functions of the name together
  bool raw = false; // add the figures with the time of probes
};

struct CallsOptions {
  QueryOptions query;
  bool csv = false;
};

struct FlameOptions {
  QueryOptions query;
  std::string format = "folded";
  bool on = false;
  bool off = false;
  bool waits = false; // as frames
};

struct ExplainOptions {
  QueryOptions query;
  std::string slow;    // as typed; empty: not given
  std::string typical; // the same
};

struct TimelineOptions {
  QueryOptions query;
  std::string call; // TID:START, as typed
};

struct DiffOptions {
  RecordingOptions source;
  std::string base;
  std::vector<std::string> base_runs; // instead of `base` and the recording: several of each
  std::vector<std::string> now_runs;
  std::string function;
  std::string binary;
};

struct LinesOptions {
  RecordingOptions source;
  std::string file;
  bool time = false;    // measure the time of each line too: decodes the trace again
  std::string function; // whose lines are timed; empty: all functions of the file
  std::string binary;
};

struct CacheOptions {
  RecordingOptions source;
  bool remove = false;
};

struct BundleOptions {
  RecordingOptions source;
  std::string output;
};

struct DecodeOptions {
  RecordingOptions source;
  std::string events = "branches";
  std::string tid;
};

struct DoctorOptions {
  std::string perf;
  std::string binary;
  std::string folder;
  bool json = false;
};

struct ProcessesOptions {
  std::string source;
  std::int32_t pid = 0; // 0: list processes, else the threads of this process
  bool json = false;
};

struct RecordOptions {
  record::Request request;
  std::vector<std::string> functions; // names
  std::string binary;                 // of all of them
  bool all = false;
  bool json = false;
};

// Converts the options to those of the engine.
[[nodiscard]] engine::OpenOptions open_options(const RecordingOptions& options);

Result<void> doctor(const DoctorOptions& options);
Result<void> processes(const ProcessesOptions& options);
Result<void> functions(const RecordingOptions& options);
Result<void> report(const QueryOptions& options);
Result<void> calls(const CallsOptions& options);
Result<void> flame(const FlameOptions& options);
Result<void> explain(const ExplainOptions& options);
Result<void> timeline(const TimelineOptions& options);
Result<void> waits(const QueryOptions& options);
Result<void> lines(const LinesOptions& options);
Result<void> diff(const DiffOptions& options);
Result<void> cache(const CacheOptions& options);
Result<void> bundle(const BundleOptions& options);
Result<void> decode(const DecodeOptions& options);
Result<void> verify(const RecordingOptions& options);
Result<void> record_command(const RecordOptions& options);

} // namespace ptlens::cli
