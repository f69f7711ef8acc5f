// One recording, rebuilt: what every question is answered from. Backends fill it; nothing here
// knows where the calls came from. Times in ns.
#pragma once

#include "cache/call_cache.hpp"
#include "stacks/calls/call.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::measure {

struct MissingCode {
  std::string path;
  std::string build_id; // hex, may be empty
  std::string reason;
};

struct RecordingInfo {
  std::string path;
  std::string backend; // "intel_pt" or "uprobe"
  std::uint64_t trace_ns = 0;
  std::uint64_t lost_ns = 0;
  std::uint64_t gaps = 0;
  std::uint64_t decode_errors = 0;
  std::uint64_t trace_bytes = 0;
  std::uint64_t lost_records = 0;              // side-band records or samples that perf dropped
  std::optional<std::uint64_t> uncertainty_ns; // nothing: the recording has no timing at all
  bool off_cpu_known = false;                  // false: no switch records
  std::vector<std::string> notes; // one line each: what the backend costs and cannot see
  std::vector<MissingCode> missing;
};

struct Measurement {
  RecordingInfo recording;
  std::vector<stacks::ThreadInfo> threads;
  std::vector<stacks::FunctionInfo> functions;
  std::vector<stacks::CallSite> sites;
  // All calls of a recording that was opened. Where there is none, `calls` holds them: few, made by
  // hand.
  std::shared_ptr<const cache::CallCache> store;
  stacks::CallTable calls;
  // Last components of the names of functions that compilers inlined somewhere in the binaries
  // whose code ran, without template arguments; ascending.
  std::vector<std::string> inlined_names;
};

} // namespace ptlens::measure
