// One measured recording, from which every question is answered. The backends fill it; nothing here
// depends on where the calls came from. Times are in ns.
#pragma once

#include "base/error.hpp"
#include "base/lazy.hpp"
#include "base/note.hpp"
#include "cache/reading/call_cache.hpp"
#include "stacks/calls/call.hpp"
#include "waits/waits.hpp"

#include <algorithm>
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

// When trace of some thread is lost, or nothing was measured between bursts: [begin, end), ns of
// perf's clock. Gaps that are closer together than a thousandth of the trace are one interval.
struct LostInterval {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t lost_ns = 0; // in it
};

struct RecordingInfo {
  std::string path;
  std::string backend; // "intel_pt", "uftrace" or "uprobe"
  std::uint64_t trace_ns = 0;
  std::uint64_t lost_ns = 0;
  std::uint64_t gaps = 0;
  std::vector<LostInterval> lost; // in order
  std::uint64_t decode_errors = 0;
  std::uint64_t trace_bytes = 0;
  std::uint64_t lost_records = 0;              // side-band records or samples that perf dropped
  std::optional<std::uint64_t> uncertainty_ns; // nothing: the recording has no timing
  bool off_cpu_known = false;                  // false: the recording has no switch records
  double slowdown = 1; // how many times slower the program ran because it was measured; an estimate
  std::uint64_t bursts = 0; // probes: intervals in which the function was measured
  std::vector<Note> notes;  // what the measurement costs and cannot see
  std::vector<MissingCode> missing;
};

// Returns true where the function was measured in bursts: counts and totals are those of the
// bursts, and multiplied by estimate_factor() they are estimates of the whole recording.
[[nodiscard]] inline bool is_estimate(const RecordingInfo& info) {
  constexpr std::uint64_t share = 100; // gaps of less than a hundredth do not matter
  return info.bursts > 0 && info.lost_ns < info.trace_ns && info.lost_ns > info.trace_ns / share;
}
[[nodiscard]] inline double estimate_factor(const RecordingInfo& info) {
  return is_estimate(info) ? static_cast<double>(info.trace_ns) /
                                 static_cast<double>(info.trace_ns - info.lost_ns)
                           : 1;
}

// Waits that are read when they are first asked for.
using LazyWaits = Lazy<Result<std::shared_ptr<const waits::Waits>>>;

struct Measurement {
  RecordingInfo recording;
  std::vector<stacks::ThreadInfo> threads;
  stacks::Functions functions;
  stacks::CallSites sites;
  // Functions whose self time is unknown, because not all that they call was measured; ascending.
  std::vector<stacks::FunctionId> self_unknown;
  // Functions in whose own time trace was lost: of their incomplete calls, self is an upper bound;
  // ascending.
  std::vector<stacks::FunctionId> self_at_most = {};
  std::shared_ptr<const cache::CallCache> cache; // all calls; never null once it is complete
  // The names of functions that were inlined somewhere in binaries whose code ran: last components,
  // without template arguments, ascending.
  std::vector<std::string> inlined_names;
  std::shared_ptr<LazyWaits> waits = nullptr; // null: unknown

  // Returns whether latencies are without the time of probes.
  [[nodiscard]] bool is_corrected() const { return recording.backend == "uprobe"; }
  // Returns whether the self time of the function's calls is known; `incomplete`: of those that are
  // incomplete, too.
  [[nodiscard]] bool self_known(stacks::FunctionId function, bool incomplete = false) const {
    return !std::ranges::binary_search(self_unknown, function) &&
           !(incomplete && is_self_at_most(function));
  }
  [[nodiscard]] bool is_self_at_most(stacks::FunctionId function) const {
    return std::ranges::binary_search(self_at_most, function);
  }
};

} // namespace ptlens::measure
