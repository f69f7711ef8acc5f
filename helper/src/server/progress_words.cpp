// Turns what a worker reports into what LSP shows.
#include "server/progress_words.hpp"

#include "export/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptlens::server {

namespace {

using Seconds = std::chrono::duration<double>;

constexpr auto shortest_pause = std::chrono::milliseconds(100);
constexpr double ns_per_ms = 1e6;
constexpr double recording_share = 0.7;
constexpr double least_rate_time_s = 0.2; // before that a rate is noise

std::string amount(std::uint64_t number, const std::string& unit) {
  if (unit == "bytes") {
    return exporting::bytes(number);
  }
  if (unit == "ms") {
    return exporting::duration(static_cast<double>(number) * ns_per_ms);
  }
  return unit.empty() ? exporting::count(number) : exporting::count(number) + ' ' + unit;
}

} // namespace

std::optional<exporting::Json> ProgressWords::next(const ProgressReport& report, Time now) {
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
    message += fmt::format(" · {}", amount(report.done, report.unit));
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

  exporting::Json value = {{"kind", "report"}, {"message", std::move(message)}};
  if (report.total > 0) {
    const double share =
        std::min(1.0, static_cast<double>(report.done) / static_cast<double>(report.total));
    double overall = share;
    if (records_first_) {
      overall = report.stage == "recording" ? share * recording_share
                                            : recording_share + share * (1 - recording_share);
    }
    percentage_ = std::max(percentage_, static_cast<int>(overall * 100));
    value["percentage"] = percentage_;
  }
  return value;
}

} // namespace ptlens::server
