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

// A time in which all probes were set: perf's clock, ns.
struct Interval {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

// A function of the kernel that is in a stack of the recording.
struct KernelSymbol {
  std::uint64_t address = 0; // of its first instruction
  std::string name;
};

// The raw payload of each probe's samples, after the 8 common bytes: u64 ip, u64 sp (the stack
// pointer at the probe), and for entry probes u64 return address. Return probes: u64 ip of the
// probe, u64 address returned to, u64 stack pointer after the return. Probes in code of Go:
// goroutine_sample.hpp.
struct Manifest {
  std::string backend; // "intel_pt", "uftrace" or "uprobe"
  std::string ptlens_version;
  std::string function;               // as requested; empty: none
  std::vector<std::string> functions; // the same, each name
  std::string binary;
  std::int32_t pid = -1;
  std::vector<std::string> command;      // of a started program
  double duration_s = 0;                 // as requested
  std::vector<std::string> perf_command; // intel_pt only
  // Paths in the target's file system of files that have another content here, or do not exist. The
  // recording's folder contains them.
  std::vector<std::string> private_files;
  std::vector<Probe> probes; // uprobe only
  // uprobe only: when the function was measured, ascending. Calls across the end of an interval
  // are incomplete, and where the intervals are not the whole recording its totals are estimates.
  std::vector<Interval> measured;
  std::uint64_t end_ns = 0; // uprobe only: of the recording; 0: with the last of `measured`
  double slowdown = 1; // uprobe only: how many times slower the program ran, estimated from the
                       // number of hits and their cost; 1: not known or none
  std::vector<KernelSymbol> kernel_symbols; // ascending; for the stacks of waits
  std::vector<Note> notes;                  // the costs and the limits of the recording
};

inline constexpr const char* manifest_name = "manifest.json";
// The folder of uftrace in a recording that was made with it.
inline constexpr const char* uftrace_name = "uftrace.data";
// The code of a note about a function that was asked for and that uftrace could not patch. Its
// argument is the name.
inline constexpr const char* note_without_hook = "wanted_function_without_hook";

Result<void> write_manifest(const std::string& directory, const Manifest& manifest);
Result<Manifest> read_manifest(const std::string& directory);

} // namespace ptlens::record
