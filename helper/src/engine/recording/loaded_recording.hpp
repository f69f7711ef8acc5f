// What all backends read: the recording, the manifest beside it, the binaries that it names, and
// the context switches.
#pragma once

#include "base/error.hpp"
#include "base/note.hpp"
#include "engine/recording/open_options.hpp"
#include "measure/measurement.hpp"
#include "perfdata/contents/context_switches.hpp"
#include "perfdata/recording.hpp"
#include "record/manifest.hpp"
#include "stacks/calls/call.hpp"
#include "symbols/address_space.hpp"
#include "symbols/binary_finder.hpp"
#include "uftrace/folder.hpp"

#include <memory>
#include <optional>
#include <string>

namespace ptlens::engine {

struct LoadedRecording {
  std::string path; // as the user named it
  perfdata::Recording recording;
  std::optional<record::Manifest> manifest = {}; // of a directory that `ptlens record` wrote
  std::unique_ptr<symbols::BinaryFinder> store;
  std::shared_ptr<const symbols::Binary> kernel = {}; // its code; null where it is not available
  std::optional<Note> kernel_note = {};               // a doubt about that code
  std::unique_ptr<symbols::AddressSpaces> spaces;
  std::unique_ptr<perfdata::ContextSwitches> context_switches;
  std::optional<std::int32_t> pid = {}; // only this process is measured
  flow::DecodeOptions decode = {};
  std::optional<uftrace::Folder> hooked =
      {}; // a recording of uftrace; its side-band is `recording`

  [[nodiscard]] bool has_trace() const { return recording.trace_bytes() != 0; }
  // Returns the address filter of the trace, as perf writes it; empty: none.
  [[nodiscard]] std::string address_filter() const;
  [[nodiscard]] bool has_probes() const { return manifest && !manifest->probes.empty(); }

  // Returns pid, tid and name of a thread. Without a record of the thread, the pid is the tid.
  [[nodiscard]] stacks::ThreadInfo thread(std::int32_t pid, std::int32_t tid) const;
  // Returns whether the thread, which ran at that time in ns, ended later: by itself, or because
  // its process executed another program.
  [[nodiscard]] bool exited(const stacks::ThreadInfo& thread, std::uint64_t ran_at) const;
};

// Returns the file with the trace: the path itself, or in a folder the file that `ptlens record` or
// perf wrote there. For a recording of uftrace, its folder.
[[nodiscard]] std::string data_file(const std::string& path);

// Opens the recording. Errors: those of perfdata::Recording::open, uftrace::open_folder and
// record::read_manifest,
// not_found where it has no process with the requested pid.
[[nodiscard]] Result<LoadedRecording> load(const std::string& path, const OpenOptions& options);

// Returns the number of bytes that decoding may use.
[[nodiscard]] std::uint64_t memory_bound(const OpenOptions& options);

// Describes path, losses and missing code; the backend adds the rest.
[[nodiscard]] measure::RecordingInfo describe(const LoadedRecording& loaded);

// Computes the trace time and the lost time of the recording from its threads.
void sum_up(measure::Measurement& measurement, std::vector<stacks::Gap> gaps);

} // namespace ptlens::engine
