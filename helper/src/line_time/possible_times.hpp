// Computes how long sets of lines ran, from timestamps with an uncertainty: each is an interval.
// Between two timestamps, code of one set ran: no earlier than the first timestamp can be, and no
// later than the second. Each span of time is assigned to the union of the sets of all code that
// can have run in it, so that no line gets time that may be another one's. The lower bound of a
// line is the time of the set that contains only this line; the upper bound is the time of all sets
// that contain it.
#pragma once

#include "line_time/line_sets.hpp"
#include "perfdata/contents/context_switches.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace ptlens::line_time {

class PossibleTimes {
public:
  // Adds the times of one thread in ns to `times`, by number of set, without the time in which the
  // thread was switched out. The references must outlive the object.
  PossibleTimes(LineSets& sets, std::vector<std::uint64_t>& times, perfdata::OffCpuClock off_cpu)
      : sets_(&sets), times_(&times), off_cpu_(off_cpu) {}

  // Takes the next timestamp, in [low, high] ns. Code of the set ran since the previous one.
  void reach(std::uint64_t low, std::uint64_t high, std::uint32_t set);
  // Leaves the time between the last timestamp and the next one out, as its code is not known.
  void forget();
  // Must be called after the last timestamp.
  void finish() { forget(); }

private:
  struct Span { // code of the set ran at some time in [from, to]
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::uint32_t set = 0;
  };
  static constexpr std::size_t most_spans = 256;

  void add(const Span& span);
  void assign(std::uint64_t until);
  void add_time(std::uint32_t set, std::uint64_t begin, std::uint64_t end);

  LineSets* sets_;
  std::vector<std::uint64_t>* times_;
  perfdata::OffCpuClock off_cpu_;
  std::deque<Span> spans_; // both ends ascend
  bool started_ = false;
  std::uint64_t assigned_ = 0; // all earlier time has been assigned
  std::uint64_t low_ = 0;      // of the last timestamp
  std::uint64_t high_ = 0;
};

} // namespace ptlens::line_time
