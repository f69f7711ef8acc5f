// What both backends stand on: the file, the manifest beside it, the binaries that it names, who
// ran when.
#pragma once

#include "base/error.hpp"
#include "engine/engine.hpp"
#include "flow/switches/context_switches.hpp"
#include "measure/measurement.hpp"
#include "perfdata/recording.hpp"
#include "record/manifest.hpp"
#include "stacks/calls/call.hpp"
#include "symbols/address_space.hpp"
#include "symbols/binary_finder.hpp"

#include <memory>
#include <optional>
#include <string>

namespace ptlens::engine {

struct LoadedRecording {
  std::string path; // as the user named it
  perfdata::Recording recording;
  std::optional<record::Manifest> manifest = {}; // of a directory that `ptlens record` wrote
  std::unique_ptr<symbols::BinaryFinder> store;
  std::shared_ptr<const symbols::Binary> kernel = {}; // its code; nullptr where it is not at hand
  std::string kernel_note = {};                       // what is not certain about it
  std::unique_ptr<symbols::AddressSpaces> spaces;
  std::unique_ptr<flow::ContextSwitches> context_switches;
  std::optional<std::int32_t> pid = {}; // only this process is asked about
  flow::DecodeOptions decode = {};

  [[nodiscard]] bool has_trace() const { return recording.trace_bytes() != 0; }
  // The ranges to which the processor was told to keep, as perf writes them; empty: none.
  [[nodiscard]] std::string address_filter() const;
  [[nodiscard]] bool has_probes() const { return manifest && !manifest->probes.empty(); }

  // pid, tid and name of a thread; the pid is the tid where no record says more.
  [[nodiscard]] stacks::ThreadInfo thread(std::int32_t pid, std::int32_t tid) const;
  // Whether the thread that ran at that time, ns, has ended since: by itself, or because another
  // program took the place of its process's.
  [[nodiscard]] bool exited(const stacks::ThreadInfo& thread, std::uint64_t ran_at) const;
};

// The file with the trace: the path itself, or where it is in the folder.
[[nodiscard]] std::string data_file(const std::string& path);

[[nodiscard]] Result<LoadedRecording> load(const std::string& path, const OpenOptions& options);

// Bytes that decoding may take.
[[nodiscard]] std::uint64_t memory_bound(const OpenOptions& options);

// The error of a recording without trace, where trace is what was asked about.
[[nodiscard]] Error nothing_to_decode(const LoadedRecording& loaded);

// Path, loss and what is missing; the backend adds the rest.
[[nodiscard]] measure::RecordingInfo describe(const LoadedRecording& loaded);

// First and last times and lost time of all threads to those of the recording.
void sum_up(measure::Measurement& measurement,
            std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps);

} // namespace ptlens::engine
