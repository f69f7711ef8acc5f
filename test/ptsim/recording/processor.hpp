// A simulated processor: its clock, its trace buffer where buffers are per CPU, and what runs on
// it.
#pragma once

#include "file/recording_config.hpp"
#include "recording/trace_channel.hpp"
#include "trace/clock.hpp"

#include <cstdint>
#include <memory>

namespace ptlens::ptsim {

class TracedThread;

struct Processor {
  Processor(std::uint32_t cpu, const ClockRates& rates, std::uint64_t start_ns)
      : number(cpu), clock(rates, start_ns) {}

  std::uint32_t number;
  Clock clock;
  std::unique_ptr<TraceChannel> channel; // null: buffers are per thread
  TracedThread* thread = nullptr;        // null: idle, or something that is not traced
  Task occupant = idle_task;
  std::uint64_t slice_end = 0;  // units of the clock: the thread may be preempted from then on
  std::uint64_t busy_until = 0; // units of the clock: with what is not traced; 0: not
};

} // namespace ptlens::ptsim
