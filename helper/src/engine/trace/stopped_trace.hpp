// The times at which threads ran on a processor whose trace had stopped: after a truncation, until
// the processor's next trace. The truncation itself is a gap in the calls of the thread that ran
// then. Other threads that came and went meanwhile are known from switch records alone.
#pragma once

#include "perfdata/contents/records.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace ptlens::engine {

class StoppedTrace {
public:
  // `processors`: those with a trace buffer. Buffers of threads follow them everywhere.
  StoppedTrace(const std::set<std::int32_t>& processors, std::span<const perfdata::AuxWrite> writes,
               std::span<const perfdata::Switch> switches);

  // Notes that a processor's trace goes on, ns. Must be called in order of time.
  void go_on(std::int32_t cpu, std::uint64_t time_ns);
  // Returns since when the thread ran without a trace, ns, where it left such a processor in
  // [from, to). To be called after go_on() with that end.
  [[nodiscard]] std::optional<std::uint64_t> in(std::int32_t tid, std::uint64_t from,
                                                std::uint64_t to) const;

private:
  struct Stay { // of a thread on a processor
    std::int32_t tid = 0;
    std::uint64_t begin_ns = 0; // 0: before the recording
    std::uint64_t end_ns = 0;
  };
  struct Processor {
    std::vector<std::uint64_t> stops; // ns, in order
    std::vector<Stay> stays;          // in order of their ends
    std::size_t next_stop = 0;
    std::size_t next_stay = 0;
    std::optional<std::uint64_t> stopped_ns; // nothing while it is traced
  };
  struct Untraced { // a stay, or its rest after the trace stopped
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
  };
  void advance(Processor& processor, std::uint64_t time_ns);

  std::map<std::int32_t, Processor> processors_;           // whose trace stopped at least once
  std::map<std::int32_t, std::vector<Untraced>> untraced_; // by tid, in order of their ends
};

} // namespace ptlens::engine
