// Detects a call of a function that took longer than a limit, with probes at the function's entry
// and exits that the helper reads while they are hit.
#pragma once

#include "record/goroutine_sample.hpp"
#include "record/machine/machine.hpp"
#include "record/probe_table.hpp"
#include "record/probes/events/probe_group.hpp"
#include "record/probes/events/probe_reader.hpp"
#include "record/request.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptlens::record {

struct SlowCall {
  std::int32_t tid = -1;
  std::uint64_t latency_ns = 0;
};

// Returns the number of a thread's or a goroutine's stack for CallTimer. `tid`: of its thread.
[[nodiscard]] std::uint64_t stack_of_thread(std::int32_t tid);
[[nodiscard]] std::uint64_t stack_of(const GoroutineSample& goroutine, std::int32_t tid);

// Pairs entries and exits of one function by stack and stack pointer, in the order of time. A stack
// is that of a thread, or in Go that of a goroutine.
class CallTimer {
public:
  // Returns the latency of the call that ended, or nothing when its start was not recorded.
  std::optional<std::uint64_t> add(std::uint64_t stack, std::uint64_t stack_pointer, bool entry,
                                   std::uint64_t time_ns);
  // The next entry at that stack pointer continues the call.
  void restart(std::uint64_t stack, std::uint64_t stack_pointer);
  // The stack ends with its open calls.
  void end(std::uint64_t stack) { open_.erase(stack); }

  // Returns when the oldest open call began; UINT64_MAX where none is open.
  [[nodiscard]] std::uint64_t oldest_start() const;

private:
  struct Open {
    std::uint64_t stack_pointer = 0;
    std::uint64_t start_ns = 0;
    bool restarts = false;
  };
  std::unordered_map<std::uint64_t, std::vector<Open>> open_;
};

class SlowCallWatch {
public:
  // Sets the probes. They are removed with the object. Errors: the errors of find_target,
  // plan_probes, ProbeGroup and ProbeReader.
  static Result<SlowCallWatch> start(const Request& request, const Machine& machine);

  // Returns the first call since the last poll that took longer than the limit.
  [[nodiscard]] std::optional<SlowCall> poll();
  [[nodiscard]] std::uint64_t calls() const { return calls_; } // that were timed
  [[nodiscard]] const std::string& function() const { return function_; }

private:
  SlowCallWatch(ProbeGroup group, ProbeReader reader)
      : group_(std::move(group)), reader_(std::move(reader)) {}

  [[nodiscard]] std::optional<std::uint64_t> time(const LiveHit& hit);

  ProbeGroup group_;                     // closed after the events that read it
  ProbeReader reader_;                   // after group_
  std::map<std::uint64_t, Probe> kinds_; // a probe of each event, by event id
  std::optional<std::int32_t> pid_;
  std::optional<std::int32_t> tid_;
  std::string function_;
  std::uint64_t slower_than_ns_ = 0;
  std::uint64_t calls_ = 0;
  CallTimer timer_;
};

} // namespace ptlens::record
