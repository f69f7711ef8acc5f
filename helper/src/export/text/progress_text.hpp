// A worker's progress report as a line for people: the stage, the amount done, the rate and the
// estimated time left. At most ten lines a second.
#pragma once

#include "base/progress.hpp"
#include "measure/report/watched_function.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace ptlens::exporting {

// Returns "f so far: 10,000 calls · mean 1.23 µs · max 3.00 ms".
[[nodiscard]] std::string so_far(const measure::PartialReport& report);

class ProgressText {
public:
  using Time = std::chrono::steady_clock::time_point;

  // Returns "decoding · 12 MB of 64 MB · 40 MB/s · 2 s left", or nothing while the last line is too
  // recent. Work beside the stage that cannot keep up adds "decoding is 12 MB behind".
  [[nodiscard]] std::optional<std::string> next(const ProgressReport& report, Time now);

private:
  std::string stage_;
  Time stage_began_;
  std::uint64_t began_at_ = 0; // report.done when the stage began
  std::optional<Time> last_;
};

} // namespace ptlens::exporting
