#include "record/machine/boot_files.hpp"
#include "record/probes/cost/kept_cost.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ptlens::record::test {
namespace {

const BootedKernel this_boot{.boot_id = "ce8d25ce-346f", .release = "6.18.1"};

ProbeCost some_cost() {
  ProbeCost cost;
  cost.emulated = {.latency_ns = 1200.5, .hit_ns = 900, .uncertainty_ns = 600, .late_ns = 1900};
  cost.stepped = {
      .latency_ns = 9800, .hit_ns = 14'000, .uncertainty_ns = 4900, .frequent_ns = 11'000};
  cost.returned = {.latency_ns = -100, .hit_ns = 400, .uncertainty_ns = 600};
  cost.wait_ns = 2100;
  return cost;
}

TEST(KeptCost, IsReadAsItWasWritten) {
  const auto read = parse_cost(write_cost(some_cost(), this_boot), this_boot);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->emulated.latency_ns, 1200.5);
  EXPECT_EQ(read->emulated.late_ns, 1900);
  EXPECT_EQ(read->stepped.hit_ns, 14'000);
  EXPECT_EQ(read->stepped.uncertainty_ns, 4900);
  EXPECT_EQ(read->stepped.frequent_ns, 11'000);
  EXPECT_EQ(read->returned.latency_ns, -100);
  EXPECT_EQ(read->wait_ns, 2100);
}

TEST(KeptCost, OfAnotherBootOrKernelIsNotUsed) {
  const std::string text = write_cost(some_cost(), this_boot);
  EXPECT_FALSE(parse_cost(text, {.boot_id = "other", .release = "6.18.1"}));
  EXPECT_FALSE(parse_cost(text, {.boot_id = "ce8d25ce-346f", .release = "6.18.2"}));
  EXPECT_FALSE(parse_cost(write_cost(some_cost(), {}), {})); // the boot is unknown
}

TEST(KeptCost, ABrokenFileIsNotUsed) {
  const std::string text = write_cost(some_cost(), this_boot);
  EXPECT_FALSE(parse_cost("", this_boot));
  EXPECT_FALSE(parse_cost("[]", this_boot));
  EXPECT_FALSE(parse_cost(std::string(3000, '['), this_boot));
  for (std::size_t size = 0; size + 2 < text.size(); size += 7) {
    EXPECT_FALSE(parse_cost(text.substr(0, size), this_boot)) << size;
  }
  for (const char* wrong : {"null", "\"9800\"", "-1", "1e300", "[]"}) {
    std::string changed = text;
    changed.replace(changed.find("9800.0"), 6, wrong);
    EXPECT_FALSE(parse_cost(changed, this_boot)) << wrong;
    std::string changed_wait = text;
    changed_wait.replace(changed_wait.find("2100.0"), 6, wrong);
    EXPECT_FALSE(parse_cost(changed_wait, this_boot)) << wrong;
  }
}

TEST(KeptCost, IsInTheCacheFolder) {
  const char* const before = std::getenv("XDG_CACHE_HOME");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("XDG_CACHE_HOME", "/tmp/some/cache", 1);
  EXPECT_EQ(file_of_boot("probe-cost.json"), "/tmp/some/cache/ptlens/probe-cost.json");
  ::setenv("XDG_CACHE_HOME", "relative", 1); // to be ignored (XDG Base Directory Specification)
  EXPECT_TRUE(file_of_boot("probe-cost.json").ends_with("/.cache/ptlens/probe-cost.json"));
  if (before == nullptr) {
    ::unsetenv("XDG_CACHE_HOME");
  } else {
    ::setenv("XDG_CACHE_HOME", kept.c_str(), 1);
  }
}

} // namespace
} // namespace ptlens::record::test
