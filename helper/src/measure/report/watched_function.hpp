// What is known of one function's calls while a recording is still being decoded: counts, sums and
// a histogram, each exact for the part that was decoded so far. Percentiles need every latency and
// come with the whole.
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
  double mean = 0; // ns, of complete calls, as all that follows
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  std::uint64_t total = 0;
  std::uint64_t off_cpu = 0; // ns
  std::vector<Bucket> histogram;
  std::uint64_t done_bytes = 0; // of the trace: what was decoded
  std::uint64_t total_bytes = 0;
};

// Which function is watched, and who is told: after the first second, then twice a second, on the
// thread that decodes.
struct Watch {
  FunctionSelector selector; // neither name nor address: none
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
  WatchedFunction(const Watch& watch, const std::vector<stacks::FunctionInfo>& functions,
                  Clock::time_point begin);
  WatchedFunction(const WatchedFunction&) = delete;
  WatchedFunction& operator=(const WatchedFunction&) = delete;
  WatchedFunction(WatchedFunction&&) = delete;
  WatchedFunction& operator=(WatchedFunction&&) = delete;
  ~WatchedFunction();

  // What hands calls on to `next` and counts those of the function on their way. Lives as long as
  // this.
  [[nodiscard]] stacks::CallSink& before(stacks::CallSink& next);

  // Tells the listener when it is time to. Nothing is told while no function answers to the name,
  // or several do.
  void tell(Clock::time_point now, std::uint64_t done_bytes, std::uint64_t total_bytes);

  // What is known now.
  [[nodiscard]] std::optional<PartialReport> report() const;

private:
  class Counter;
  struct Counts {
    std::array<std::uint64_t, 3> states = {}; // by CallState
    Tally complete;
    UncertaintyCounts widths = {};
    UncertaintyCounts off_cpu_widths = {};
  };

  void count(const stacks::ClosedCall& call);
  [[nodiscard]] bool answers(std::uint32_t function);

  const Watch* watch_;
  const std::vector<stacks::FunctionInfo>* functions_;
  Clock::time_point due_;
  std::vector<std::uint8_t> answers_; // by function, of those that were asked about
  std::unordered_map<std::uint32_t, Counts> counts_;
  std::vector<std::unique_ptr<Counter>> counters_;
};

} // namespace ptlens::measure
