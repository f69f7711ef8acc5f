// What a worker reports, as a line for people: the stage, how far it is, the rate and an estimate
// of what is left. At most ten a second.
#pragma once

#include "base/progress.hpp"
#include "base/words.hpp"
#include "measure/report/watched_function.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace ptlens::exporting {

// "f so far: 10,000 calls · mean 1.23 µs · max 3.00 ms".
[[nodiscard]] std::string so_far(const measure::PartialReport& report);

class ProgressText {
public:
  using Time = std::chrono::steady_clock::time_point;

  explicit ProgressText(Words say = {}) : say_(std::move(say)) {}

  // "decoding · 12 MB of 64 MB · 40 MB/s · 2 s left"; nothing when it is too early for another one.
  [[nodiscard]] std::optional<std::string> next(const ProgressReport& report, Time now);

private:
  Words say_;
  std::string stage_;
  Time stage_began_;
  std::uint64_t began_at_ = 0; // report.done when the stage began
  std::optional<Time> last_;
};

} // namespace ptlens::exporting
