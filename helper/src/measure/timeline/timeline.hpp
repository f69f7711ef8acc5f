// One call in order of time: the calls in it, when its thread was off the CPU and why, and what the
// threads that ended its waits did meanwhile. All times are in ns of perf's clock.
#pragma once

#include "base/error.hpp"
#include "measure/measurement.hpp"
#include "measure/places/source_place.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/timeline/call_tree.hpp"
#include "measure/timeline/twin.hpp"
#include "measure/timeline/typical_calls.hpp"
#include "measure/waits/wait_report.hpp"
#include "waits/waits.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::measure {

// A wait of the call's thread, as far as it is inside the call.
struct TimelineWait {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t woken = 0; // when the waker made the thread runnable; 0: unknown
  WaitRow wait;            // of one interval
};

// A call on another thread, which was open when that thread ended a wait.
struct MeanwhileCall {
  std::int32_t tid = -1;
  std::string thread;
  std::string function;
  std::string file;
  std::uint32_t line = 0; // of its call site; 0: unknown
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

// The branch at which a call and its twin, or two calls in them, part. Addresses without lines have
// places without a file.
struct Parting {
  SourcePlace branch;        // of the branch instruction
  std::uint64_t address = 0; // its ELF virtual address
  SourcePlace call;          // where the call went on
  SourcePlace twin;          // where its twin went on
};

// A call to be found in the trace.
struct TracedCall {
  std::int32_t tid = -1;
  std::uint64_t start = 0; // ns of perf's clock
  std::uint64_t end = 0;
  std::uint32_t skip = 0; // calls of the function that begin at the same time before it
};

// Two calls of a function that are compared.
struct TracedPair {
  stacks::FunctionId function{};
  TracedCall call;
  TracedCall twin;
};

struct Timeline {
  CallSubset subset;     // the call, its twin, and what is shown of what they led to
  std::uint32_t row = 0; // of the call
  CallTree tree;         // the calls in it
  std::vector<TimelineWait> waits;
  std::vector<stacks::Gap> lost;        // of the call's thread, as far as they are inside the call
  std::vector<MeanwhileCall> meanwhile; // in order of start
  std::optional<Twin> twin;
  std::optional<Parting> parting = {}; // from the twin; filled in where the trace is decoded again
};

inline constexpr std::size_t most_timeline_calls = 2'000;

// Errors: not_found where no call of the function began on that thread at that time.
[[nodiscard]] Result<Timeline> timeline(const Measurement& measurement, const waits::Waits& waits,
                                        stacks::FunctionId function, const CallName& name);

inline constexpr std::size_t most_compared_pairs = 8;

// Returns the calls whose branches say where the call and its twin part: both themselves, then the
// two calls in them whose latencies differ most, and so on. Empty without a twin.
[[nodiscard]] std::vector<TracedPair> pairs_to_compare(const Measurement& measurement,
                                                       const Timeline& timeline);

} // namespace ptlens::measure
