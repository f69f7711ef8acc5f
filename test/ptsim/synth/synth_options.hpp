// The command line of `ptsim synth`.
#pragma once

#include "base/error.hpp"
#include "synth/behaviour.hpp"
#include "trace/trace_unit.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::ptsim::synth {

enum class FaultKind : std::uint8_t {
  overflow,  // the processor drops packets for a while and says so
  truncated, // the AUX buffer is full: trace is missing up to when perf has read it
  cut,       // the same, and the buffer ends inside a packet: perf reads it on behind the gap
  no_pgd,    // tracing ends at a switch without a packet that says so: nobody knows what is missing
  lost_records, // switch records are missing, and a LOST record says so
};
[[nodiscard]] std::string_view word(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::overflow;
  std::uint64_t every = 0; // bytes of a buffer's trace, on average; of lost_records: switches
};

struct FilterRequest { // "filter FUNCTION @ BINARY"
  std::string function;
  std::string binary;
};

struct SynthOptions {
  std::vector<std::string> binaries;
  std::string output = "perf.data";
  std::string truth;    // path, empty: none
  std::string counts;   // path, empty: none
  std::string branches; // path, empty: none

  std::uint64_t seed = 1;
  std::uint64_t bytes = 1 << 20; // of trace
  std::uint64_t calls = 0;       // 0: no limit
  std::size_t functions = 4000;
  Style style = Style::mixed;
  std::size_t depth = 32;
  double unwind = 0;                    // probability where a function could return
  std::uint64_t system_calls_every = 0; // see Behaviour; 0: as the style decides
  double signals = 0;                   // probability at an interrupt
  double interrupts = 50;               // mean time between two of a processor, us

  std::size_t threads = 1;
  std::size_t cpus = 1;
  bool per_thread = false;
  bool system_wide = false; // tracing goes on across switches, as with perf record -a
  bool switch_events = true;
  double slice = 500; // mean time that a thread runs, us

  std::string event = "intel_pt//u";
  std::uint64_t event_config = 0;
  TraceUnitConfig trace;
  std::uint64_t aux_bytes = 4 << 20;
  std::vector<Fault> faults;
  std::optional<FilterRequest> filter;
  std::string kernel; // folder for kcore and kallsyms of a made-up kernel that is traced too

  std::vector<std::string> command_line;
};

// `arguments` as given, "ptsim synth" first. Errors: bad_input, unsupported.
Result<SynthOptions> parse_synth_options(const std::vector<std::string>& arguments);

[[nodiscard]] std::string synth_usage();

} // namespace ptlens::ptsim::synth
