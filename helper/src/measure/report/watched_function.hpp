// The figures of one function while a recording is being decoded: counts, sums and a histogram, all
// exact for the trace that was decoded so far. Percentiles need every latency, so that only the
// final report has them.
#pragma once

#include "measure/names/names.hpp"
#include "measure/report/report.hpp"
#include "measure/statistics/statistics.hpp"
#include "stacks/calls/closed_call.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptlens::measure {

struct PartialReport {
  stacks::FunctionInfo function;
  std::uint64_t complete = 0;
  std::uint64_t incomplete = 0;
  std::uint64_t unwound = 0;
  double mean = 0; // ns; this and all later fields are of complete calls
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  std::uint64_t total = 0;
  std::uint64_t off_cpu = 0; // ns
  std::vector<Bucket> histogram;
  std::uint64_t done_bytes = 0; // of trace that were decoded
  std::uint64_t total_bytes = 0;
};

// The watched function and its listener, which is called after the first second and then twice a
// second, on the decoding thread.
struct Watch {
  FunctionSelector selector; // without name and address: no function
  std::string binary;        // a path or its end, empty for any
  std::function<void(const PartialReport&)> listener = {};

  [[nodiscard]] bool is_set() const {
    return listener && (!selector.name.empty() || selector.address.has_value());
  }
};

class WatchedFunction {
public:
  using Clock = std::chrono::steady_clock;

  // `functions` grows while calls are taken. Both must outlive it.
  WatchedFunction(const Watch& watch, const stacks::Functions& functions, Clock::time_point begin);
  WatchedFunction(const WatchedFunction&) = delete;
  WatchedFunction& operator=(const WatchedFunction&) = delete;
  WatchedFunction(WatchedFunction&&) = delete;
  WatchedFunction& operator=(WatchedFunction&&) = delete;
  ~WatchedFunction();

  // Returns a sink that passes all calls on to `next` and counts the calls of the function. It
  // lives as long as this object.
  [[nodiscard]] stacks::CallSink& before(stacks::CallSink& next);

  // Calls the listener when a report is due. Does nothing while no function matches the name, or
  // several do.
  void report_if_due(Clock::time_point now, std::uint64_t done_bytes, std::uint64_t total_bytes);

  // Returns the present figures.
  [[nodiscard]] std::optional<PartialReport> report() const;

private:
  class Counter;
  struct Counts {
    std::array<std::uint64_t, 3> states = {}; // by CallState
    Tally complete;
    WidthCounts widths = {};
    WidthCounts off_cpu_widths = {};
  };

  void count(const stacks::ClosedCall& call);
  [[nodiscard]] bool matches(stacks::FunctionId function);

  const Watch* watch_;
  const stacks::Functions* functions_;
  Clock::time_point due_;
  IdVector<stacks::FunctionId, std::uint8_t> matches_; // as far as it was looked up
  std::unordered_map<stacks::FunctionId, Counts> counts_;
  std::vector<std::unique_ptr<Counter>> counters_;
};

} // namespace ptlens::measure
