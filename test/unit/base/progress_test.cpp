// Progress between the requester and the worker.
#include "base/progress.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace ptlens {
namespace {

TEST(Progress, PassesEveryReportToTheListener) {
  std::vector<ProgressReport> seen;
  const Progress progress([&](const ProgressReport& report) { seen.push_back(report); });
  progress.report({.stage = "reading", .done = 1, .total = 2, .unit = "bytes"});
  progress.report({.stage = "decoding", .done = 3, .total = 0, .unit = "bytes"});
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].stage, "reading");
  EXPECT_EQ(seen[0].done, 1U);
  EXPECT_EQ(seen[0].total, 2U);
  EXPECT_EQ(seen[0].unit, "bytes");
  EXPECT_EQ(seen[1].stage, "decoding");
  EXPECT_EQ(seen[1].done, 3U);
}

TEST(Progress, ReportsHowFarTheWorkBesideIsBehind) {
  std::vector<std::uint64_t> seen;
  const Progress progress([&](const ProgressReport& report) { seen.push_back(report.behind); });
  progress.report({.stage = "recording", .done = 1, .total = 0, .unit = "ms"});
  const auto behind = progress.behind();
  *behind = 12;
  progress.report({.stage = "recording", .done = 2, .total = 0, .unit = "ms"});
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{0, 12}));
}

TEST(Progress, WorksWithoutAListener) {
  const Progress progress;
  progress.report({.stage = "reading", .done = 1, .total = 2, .unit = "bytes"});
  EXPECT_FALSE(progress.cancelled());
  EXPECT_FALSE(progress.finish_asked());
}

TEST(Progress, DistinguishesCancellingFromFinishing) {
  Progress cancelled;
  cancelled.cancel();
  EXPECT_TRUE(cancelled.cancelled());
  EXPECT_FALSE(cancelled.finish_asked());
  Progress finished;
  finished.finish();
  EXPECT_TRUE(finished.finish_asked());
  EXPECT_FALSE(finished.cancelled());
}

TEST(Progress, AWorkerInAnotherThreadSeesTheCancellation) {
  Progress progress;
  bool stopped = false;
  std::thread worker([&] {
    while (!progress.cancelled()) {
      std::this_thread::yield();
    }
    stopped = true;
  });
  progress.cancel();
  worker.join();
  EXPECT_TRUE(stopped);
}

} // namespace
} // namespace ptlens
