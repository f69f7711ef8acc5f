// How long which lines ran, from moments that are known to lie in intervals. Between two of them
// runs code of a set of lines; it ran no earlier than the first moment can have been and no later
// than the second. Each span of time goes to the union of the sets of all code that can have run in
// it: no time is invented for one of them. What one line certainly took is the time of the set that
// holds it alone, what it can have taken at most that of all sets that hold it.
#pragma once

#include "flow/switches/context_switches.hpp"
#include "line_time/line_sets.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace ptlens::stacks {

class PossibleTimes {
public:
  // Of one thread. Adds ns to `times`, by number of set; the time in which the thread was switched
  // out is left out. The references must outlive the object.
  PossibleTimes(LineSets& sets, std::vector<std::uint64_t>& times, flow::OffCpuClock off_cpu)
      : sets_(&sets), times_(&times), off_cpu_(off_cpu) {}

  // The next moment is in [low, high], ns; since the one before ran code of the set.
  void reach(std::uint64_t low, std::uint64_t high, std::uint32_t set);
  // There is no time at which the code since the last moment ran, nor until the next one.
  void forget();
  // The last moment was the end.
  void finish() { forget(); }

private:
  struct Piece { // code of the set ran some time in [from, to]
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::uint32_t set = 0;
  };
  static constexpr std::size_t most_pieces = 256;

  void add(const Piece& piece);
  void settle(std::uint64_t until);
  void give(std::uint32_t set, std::uint64_t begin, std::uint64_t end);

  LineSets* sets_;
  std::vector<std::uint64_t>* times_;
  flow::OffCpuClock off_cpu_;
  std::deque<Piece> pieces_; // both ends ascend
  bool started_ = false;
  std::uint64_t settled_ = 0; // all time before has been given
  std::uint64_t low_ = 0;     // of the last moment
  std::uint64_t high_ = 0;
};

} // namespace ptlens::stacks
