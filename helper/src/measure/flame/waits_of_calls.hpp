// Finds for each wait of a thread the innermost call that was open when it began.
#pragma once

#include "measure/places/wait_places.hpp"
#include "waits/waits.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace ptlens::measure {

class WaitsOfCalls {
public:
  // Times of waits by cause, ns.
  using Times = std::map<WaitCause, std::uint64_t>;

  // `waits`: null: none are known. `functions`: of the calls.
  WaitsOfCalls(const waits::Waits* waits, const stacks::Functions& functions)
      : waits_(waits), functions_(functions) {}

  void begin_thread(std::int32_t tid);
  // Takes the calls of the thread in order of start, callers first. `number`: given back by
  // finish(); several calls may share one.
  void open(std::uint64_t start, std::uint64_t end, std::uint32_t number,
            stacks::FunctionId function);
  // Returns the times by number, below `numbers`. What was open under other numbers is left out.
  [[nodiscard]] std::vector<Times> finish(std::size_t numbers);

private:
  struct Open {
    std::uint64_t end = 0;
    std::uint32_t number = 0;
    stacks::FunctionId function{};
  };
  struct Found {
    std::uint32_t number = 0;
    WaitCause cause;
    std::uint64_t time = 0;
  };

  void settle(std::uint64_t before);
  void close(std::uint64_t at);

  const waits::Waits* waits_;
  const stacks::Functions& functions_;
  std::span<const waits::Wait> rest_; // of the thread, in order of time
  std::vector<Open> open_;
  std::vector<Found> found_;
};

} // namespace ptlens::measure
