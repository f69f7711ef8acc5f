// What the editor draws: worked out by hand, then against random recordings.
#include "measure/lines/lines.hpp"
#include "measure/naive.hpp"
#include "measure/recordings.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

#include <map>

namespace ptlens::measure {
namespace {

using stacks::CallState;

test::Recording three_files() {
  test::Recording m = test::empty_recording(1000);
  const auto run = test::add_function(m, "run");
  const auto work = test::add_function(m, "work");
  test::add_function(m, "elsewhere");
  const auto never = test::add_function(m, "never");
  m.functions[run].file = m.functions[work].file = m.functions[never].file = "/src/a/main.cpp";
  m.functions[run].line = 30;
  m.functions[work].line = 10;
  m.functions[2_fn].file = "/src/b/main.cpp";
  m.sites = {{.function = run, .address = 1, .file = "/src/a/main.cpp", .line = 32},
             {.function = run, .address = 2, .file = "/src/a/main.cpp", .line = 32},
             {.function = run, .address = 3, .file = "/src/a/main.cpp", .line = 31},
             {.function = run, .address = 4, .file = "/src/a/header.hpp", .line = 5},
             {.function = run, .address = 5, .file = "/src/a/main.cpp", .line = 0}};
  const auto root = test::add_call(m, {.function = run, .latency = 500});
  const auto call = [&](stacks::FunctionId function, std::uint64_t start, std::uint64_t latency,
                        stacks::SiteId site, CallState state) {
    test::add_call(m, {.function = function,
                       .parent = root,
                       .start = start,
                       .latency = latency,
                       .blocked = latency / 2,
                       .state = state,
                       .site = site});
  };
  call(work, 0, 10, 0_site, CallState::complete);
  call(work, 20, 20, 1_site, CallState::complete);
  call(2_fn, 50, 60, 1_site, CallState::complete);
  call(work, 150, 7, 2_site, CallState::unwound);
  call(work, 160, 9, 2_site, CallState::incomplete);
  call(work, 170, 11, 3_site, CallState::complete);
  call(work, 190, 11, 4_site, CallState::complete);
  return m;
}

TEST(Lines, GroupsCallsByTheLineOfTheCallSite) {
  const Result<FileLines> result = lines(three_files(), "a/main.cpp");
  ASSERT_TRUE(result) << result.error().one_line();
  EXPECT_EQ(result->file, "/src/a/main.cpp");
  ASSERT_EQ(result->lines.size(), 2U);
  const LineRow& first = result->lines[0];
  EXPECT_EQ(first.line, 31U);
  EXPECT_EQ(first.latency.calls, 0U);
  EXPECT_EQ(first.unwound, 1U);
  EXPECT_EQ(first.incomplete, 1U);
  ASSERT_EQ(first.callees.size(), 1U);
  EXPECT_EQ(first.callees[0].calls, 0U);
  const LineRow& second = result->lines[1];
  EXPECT_EQ(second.line, 32U);
  EXPECT_EQ(second.latency.calls, 3U);
  EXPECT_DOUBLE_EQ(second.latency.mean, 30);
  EXPECT_EQ(second.latency.p99, 60U);
  EXPECT_EQ(second.off_cpu.total, 45U);
  ASSERT_EQ(second.callees.size(), 2U);
  EXPECT_EQ(second.callees[0].function, 1_fn);
  EXPECT_EQ(second.callees[0].calls, 2U);
  EXPECT_DOUBLE_EQ(second.callees[0].mean, 15);
  EXPECT_EQ(second.callees[1].function, 2_fn);
  EXPECT_DOUBLE_EQ(second.callees[1].mean, 60);

  ASSERT_EQ(result->functions.size(), 2U); // by line; never was not called
  EXPECT_EQ(result->functions[0].function, 1_fn);
  EXPECT_EQ(result->functions[0].report.complete, 4U);
  EXPECT_EQ(result->functions[0].report.latency.total, 52U);
  EXPECT_EQ(result->functions[1].function, 0_fn);
  EXPECT_TRUE(result->functions[1].report.children.empty());
}

TEST(Lines, FindsTheFileOrListsTheFiles) {
  const test::Recording m = three_files();
  EXPECT_EQ(lines(m, "/src/b/main.cpp")->file, "/src/b/main.cpp");
  EXPECT_EQ(lines(m, "/home/me/header.hpp").error().kind, Error::Kind::not_found);
  EXPECT_EQ(lines(m, "/mnt/src/a/header.hpp")->file, "/src/a/header.hpp"); // more than recorded
  const Error both = lines(m, "main.cpp").error();
  EXPECT_EQ(both.kind, Error::Kind::bad_input);
  EXPECT_NE(both.message.find("/src/a/main.cpp, /src/b/main.cpp"), std::string::npos);
  const Error none = lines(m, "nothing.cpp").error();
  EXPECT_EQ(none.kind, Error::Kind::not_found);
  EXPECT_NE(none.remedy.find("/src/a/header.hpp, /src/a/main.cpp, /src/b/main.cpp"),
            std::string::npos);
  EXPECT_EQ(lines(m, "").error().kind, Error::Kind::not_found);
  EXPECT_NE(lines(test::empty_recording(1), "a.c").error().remedy.find("-g"), std::string::npos);
}

class RandomLines : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RandomLines, AgreeWithTheReportAndTheDefinition) {
  const test::Recording m = test::random_recording({.seed = GetParam()});
  const Measurement asked = m;
  for (const char* file : {"/src/file_0.cpp", "/src/file_1.cpp"}) {
    const Result<FileLines> result = lines(asked, file);
    ASSERT_TRUE(result);
    for (const FileFunction& function : result->functions) {
      EXPECT_EQ(m.functions[function.function].file, file);
      const Report whole = report(asked, function.function, {});
      EXPECT_EQ(function.report.complete, whole.complete);
      EXPECT_EQ(function.report.incomplete, whole.incomplete);
      EXPECT_EQ(function.report.latency.p90, whole.latency.p90);
      EXPECT_DOUBLE_EQ(function.report.cpu_percent, whole.cpu_percent);
    }
    std::map<std::uint32_t, naive::Calls> expected;
    for (std::uint32_t call = 0; call < m.calls.size(); ++call) {
      if (m.calls.site[call] != stacks::SiteId::none && m.sites[m.calls.site[call]].file == file) {
        expected[m.sites[m.calls.site[call]].line].push_back(call);
      }
    }
    ASSERT_EQ(result->lines.size(), expected.size());
    for (const LineRow& row : result->lines) {
      const naive::Calls& all = expected[row.line];
      const naive::Calls complete = naive::only_complete(m, all);
      EXPECT_EQ(row.latency.calls, complete.size());
      EXPECT_EQ(row.latency.total, naive::total(m, complete));
      EXPECT_EQ(row.off_cpu.total, naive::off_cpu(m, complete));
      EXPECT_EQ(row.latency.calls + row.incomplete + row.unwound, all.size());
      std::uint64_t calls = 0;
      double total = 0;
      for (const LineCallee& callee : row.callees) {
        calls += callee.calls;
        total += callee.mean * static_cast<double>(callee.calls);
      }
      EXPECT_EQ(calls, complete.size());
      EXPECT_NEAR(total, static_cast<double>(row.latency.total), 1e-6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLines, testing::Range(200U, 206U));

} // namespace
} // namespace ptlens::measure
