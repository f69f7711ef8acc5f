// A question that is cancelled ends as cancelled, reads no more of the calls, and leaves no half
// answer to be remembered.
#include "export/example.hpp"
#include "server/open_recordings.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace ptlens::server {
namespace {

TEST(CancelledQuestion, EndsAsCancelledAndIsAskedAnew) {
  const auto measurement = std::make_shared<const measure::Measurement>(exporting::example());
  Host host;
  host.open = [&](const OpenRequest&, const measure::Watch&, const Progress&) {
    return Result<decltype(measurement)>(measurement);
  };
  Session session(host);
  Progress going;
  OpenRequest open;
  open.path = "/r";
  ASSERT_TRUE(session.open(open, {}, going).has_value());
  Progress cancelled;
  cancelled.cancel();
  const std::string function = measurement->functions.front().name;
  const std::string file = measurement->functions.front().file;
  const auto expect_cancelled = [](const Result<Json>& answer) {
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().kind, Error::Kind::cancelled);
  };
  ReportRequest report;
  report.id = "1";
  report.function.name = function;
  expect_cancelled(session.report(report, cancelled));
  FlameRequest flame;
  flame.id = "1";
  expect_cancelled(session.flame(flame, cancelled));
  CallsRequest calls;
  calls.id = "1";
  calls.function.name = function;
  calls.limit = 10;
  expect_cancelled(session.calls(calls, cancelled));
  LinesRequest lines;
  lines.id = "1";
  lines.file = file;
  expect_cancelled(session.lines(lines, cancelled));
  EXPECT_FALSE(measurement->cache->damaged());

  const auto whole = session.lines(lines, going);
  ASSERT_TRUE(whole.has_value());
  EXPECT_FALSE((*whole)["functions"].empty());
  EXPECT_TRUE(session.report(report, going).has_value());
}

} // namespace
} // namespace ptlens::server
