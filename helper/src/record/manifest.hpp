// DIR/manifest.json: what `ptlens record` was asked to do and what it did, beside the perf.data
// that it wrote. Readers need it for uprobe recordings, where it assigns each probe to a function.
#pragma once

#include "base/error.hpp"
#include "base/note.hpp"
#include "record/probe_table.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::record {

// The raw payload of each probe's samples, after the 8 common bytes: u64 ip, u64 sp (the stack
// pointer at the probe), and for entry probes u64 return address; goroutine_sample.hpp for probes
// in code of Go.
struct Manifest {
  std::string backend; // "intel_pt" or "uprobe"
  std::string ptlens_version;
  std::string function; // as requested; empty: none
  std::string binary;
  std::int32_t pid = -1;
  std::vector<std::string> command; // of a started program
  double duration_s = 0;            // as requested
  std::vector<std::string> perf_command;
  std::vector<Probe> probes;            // uprobe only
  std::vector<CostInTime> cost_in_time; // uprobe only, each thread once
  std::vector<Note> notes;              // the costs and the limits of the recording
};

inline constexpr const char* manifest_name = "manifest.json";

Result<void> write_manifest(const std::string& directory, const Manifest& manifest);
Result<Manifest> read_manifest(const std::string& directory);

} // namespace ptlens::record
