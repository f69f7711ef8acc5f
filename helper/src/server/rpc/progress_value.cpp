// LSP's progress reports.
#include "server/rpc/progress_value.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ptlens::server {

namespace {

constexpr double recording_share = 0.7;

} // namespace

std::optional<protocol::Json> ProgressValue::next(const ProgressReport& report, Time now) {
  std::optional<std::string> message = text_.next(report, now);
  if (!message) {
    return std::nullopt;
  }
  protocol::Json value = {{"kind", "report"}, {"message", std::move(*message)}};
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
