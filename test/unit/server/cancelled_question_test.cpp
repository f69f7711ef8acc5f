// A question that is cancelled ends as cancelled, reads no more of the calls, and leaves no half
// answer to be remembered.
#include "export/example.hpp"
#include "server/recordings/open_recordings.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

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
  calls.page.limit = 10;
  expect_cancelled(session.calls(calls, cancelled));
  ExplainRequest explain;
  explain.id = "1";
  explain.function.name = function;
  expect_cancelled(session.explain(explain, cancelled));
  DistributionRequest distribution;
  distribution.id = "1";
  distribution.function.name = function;
  expect_cancelled(session.distribution(distribution, cancelled));
  expect_cancelled(session.lines("1", file, cancelled));
  EXPECT_FALSE(measurement->cache->damaged());

  const auto whole = session.lines("1", file, going);
  ASSERT_TRUE(whole.has_value());
  EXPECT_FALSE((*whole)["functions"].empty());
  EXPECT_TRUE(session.report(report, going).has_value());
}

} // namespace
} // namespace ptlens::server
