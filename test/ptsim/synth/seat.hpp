// The simulated processor that a thread of a made-up program runs on, as far as its walk uses it.
#pragma once

#include "trace/clock.hpp"
#include "trace/packet_writer.hpp"
#include "trace/trace_unit.hpp"

namespace ptlens::ptsim::synth {

// The processor that a thread runs on.
struct Seat {
  Clock* clock = nullptr;
  TraceUnit* unit = nullptr;
  PacketWriter* packets = nullptr;
};

} // namespace ptlens::ptsim::synth
