// A probe event in tracefs, as perf_event_open(2) takes it.
#pragma once

#include <cstdint>
#include <string>

namespace ptlens::record {

struct ProbeEvent {
  std::string name = {};   // "group/event"
  std::string filter = {}; // condition for a hit, over the event's fields
                           // (Documentation/trace/events.rst); empty: every hit
  std::uint64_t id = 0;    // in tracefs
};

} // namespace ptlens::record
