// Rates are those of the present stage, so that a fast stage does not promise a short slow one.
#include "export/text/progress_text.hpp"

#include "export/text/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptlens::exporting {

namespace {

using Seconds = std::chrono::duration<double>;

constexpr auto shortest_pause = std::chrono::milliseconds(100);
constexpr double ns_per_ms = 1e6;
constexpr double least_rate_time_s = 0.2; // a rate over a shorter time is noise

std::string amount(std::uint64_t number, const std::string& unit) {
  if (unit == "bytes") {
    return bytes(number);
  }
  if (unit == "ms") {
    return duration(static_cast<double>(number) * ns_per_ms);
  }
  return unit.empty() ? count(number) : count(number) + ' ' + unit;
}

} // namespace

std::string so_far(const measure::PartialReport& report) {
  std::string text =
      fmt::format("{} so far: {}", printable(report.function.name), count(report.complete, "call"));
  if (report.complete != 0) {
    text += fmt::format(" · mean {} · max {}", duration(report.mean),
                        duration(static_cast<double>(report.max)));
  }
  return text;
}

std::optional<std::string> ProgressText::next(const ProgressReport& report, Time now) {
  const bool new_stage = !last_ || report.stage != stage_;
  if (new_stage) {
    stage_ = report.stage;
    stage_began_ = now;
    began_at_ = report.done;
  } else if (now - *last_ < shortest_pause) {
    return std::nullopt;
  }
  last_ = now;

  std::string message = report.stage;
  if (report.total > 0) {
    message += fmt::format(" · {} of {}", amount(std::min(report.done, report.total), report.unit),
                           amount(report.total, report.unit));
  } else if (report.done > 0) {
    message += " · " + amount(report.done, report.unit);
  }
  const double elapsed_s = Seconds(now - stage_began_).count();
  const double advanced =
      static_cast<double>(report.done > began_at_ ? report.done - began_at_ : 0);
  if (elapsed_s >= least_rate_time_s && advanced > 0) {
    const double rate = advanced / elapsed_s;
    if (report.unit != "ms") {
      message += fmt::format(" · {}/s", amount(static_cast<std::uint64_t>(rate), report.unit));
    }
    if (report.total > report.done) {
      const double left_s = static_cast<double>(report.total - report.done) / rate;
      message += fmt::format(" · {:.0f} s left", std::max(1.0, left_s));
    }
  }
  if (report.behind > 0) {
    message += fmt::format(" · decoding is {} behind", bytes(report.behind));
  }
  return message;
}

} // namespace ptlens::exporting
