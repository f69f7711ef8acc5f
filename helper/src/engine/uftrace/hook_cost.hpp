// The cost of uftrace's hooks, from the recording itself: the shortest call of a function that made
// no calls contains little besides the hooks' own time, and so does the shortest time between an
// exit and the next entry. Where even the shortest calls do real work, that is too much: a hook
// takes no more than some 100 ns on either side.
#pragma once

#include "stacks/threads/hooked_calls.hpp"
#include "uftrace/record_stream.hpp"

#include <cstdint>
#include <vector>

namespace ptlens::engine {

class HookCostEstimate {
public:
  // Takes the next record of a thread.
  void add(const uftrace::Record& record) {
    if (record.kind == uftrace::Record::Kind::event) {
      return;
    }
    if (known_ && record.kind != uftrace::Record::Kind::lost && record.time_ns >= last_.time_ns) {
      const std::uint64_t time_ns = record.time_ns - last_.time_ns;
      if (last_.kind == uftrace::Record::Kind::entry &&
          record.kind == uftrace::Record::Kind::exit && record.depth == last_.depth) {
        add(time_ns, inside_);
      } else if (last_.kind == uftrace::Record::Kind::exit) {
        add(time_ns, around_);
      }
    }
    last_ = record;
    known_ = record.kind != uftrace::Record::Kind::lost;
  }
  void begin_thread() { known_ = false; }

  // Returns the 5th percentile of each, of times below 1 µs; at most 100 ns.
  [[nodiscard]] stacks::HookCost cost() const;

private:
  static constexpr std::size_t most_ns = 1000;
  static void add(std::uint64_t time_ns, std::vector<std::uint64_t>& counts) {
    if (time_ns < most_ns) {
      ++counts[time_ns];
    }
  }
  [[nodiscard]] static std::uint32_t low(const std::vector<std::uint64_t>& counts);

  std::vector<std::uint64_t> inside_ = std::vector<std::uint64_t>(most_ns); // by ns
  std::vector<std::uint64_t> around_ = std::vector<std::uint64_t>(most_ns);
  uftrace::Record last_;
  bool known_ = false;
};

} // namespace ptlens::engine
