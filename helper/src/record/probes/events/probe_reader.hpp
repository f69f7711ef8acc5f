// Reads the hits of probes while they happen, with perf_event_open(2) and one ring buffer per CPU.
// Hits are in the order of time.
#pragma once

#include "base/error.hpp"
#include "record/goroutine_sample.hpp"
#include "record/probes/events/probe_event.hpp"
#include "record/probes/events/ring_buffer.hpp"
#include "record/processes/descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ptlens::record {

struct LiveHit {
  std::uint64_t time_ns = 0; // CLOCK_MONOTONIC
  std::int32_t pid = -1;
  std::int32_t tid = -1;
  std::uint64_t event_id = 0;
  std::uint64_t ip = 0;
  std::uint64_t stack_pointer = 0;
  std::optional<GoroutineSample> goroutine; // where the sample may be one of code of Go
};

class ProbeReader {
public:
  // Opens events whose samples start with u64 ip and u64 sp, such as the events of ProbeEvents.
  // Errors: no_rights, failed with the kernel's reason.
  // `pid`: of the only thread that is watched; -1: all processes.
  static Result<ProbeReader> open(std::span<const ProbeEvent> events, std::int32_t pid = -1);

  // Returns the hits since the last call that are older than a millisecond. By then no CPU can add
  // an earlier hit.
  [[nodiscard]] std::vector<LiveHit> read();
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

private:
  struct Ring {
    std::vector<Descriptor> events;
    std::optional<RingBuffer> buffer;
  };

  ProbeReader() = default;
  Result<void> open_on(int cpu, std::span<const ProbeEvent> events, std::int32_t pid);
  void parse(std::span<const std::byte> record);

  std::vector<Ring> rings_;
  std::vector<LiveHit> waiting_;
  std::uint64_t lost_ = 0;
};

} // namespace ptlens::record
