// Finds for each wait of a thread the innermost call that was open when it began.
#pragma once

#include "waits/waits.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

class WaitsOfCalls {
public:
  // Times of waits by reason, ns.
  using Times = std::array<std::uint64_t, waits::reasons>;

  // `waits`: null: none are known.
  explicit WaitsOfCalls(const waits::Waits* waits) : waits_(waits) {}

  void begin_thread(std::int32_t tid);
  // Takes the calls of the thread in order of start, callers first. `number`: given back by
  // finish(); several calls may share one.
  void open(std::uint64_t start, std::uint64_t end, std::uint32_t number);
  // Returns the times by number, below `numbers`. What was open under other numbers is left out.
  [[nodiscard]] std::vector<Times> finish(std::size_t numbers);

private:
  struct Open {
    std::uint64_t end = 0;
    std::uint32_t number = 0;
  };
  struct Found {
    std::uint32_t number = 0;
    waits::Reason reason = waits::Reason::unknown;
    std::uint64_t time = 0;
  };

  void settle(std::uint64_t before);
  void close(std::uint64_t at);

  const waits::Waits* waits_;
  std::span<const waits::Wait> rest_; // of the thread, in order of time
  std::vector<Open> open_;
  std::vector<Found> found_;
};

} // namespace ptlens::measure
