// Address filters: what is traced is what a filter of the stepped branches by address leaves.
#include "harness.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ptlens::ptsim::testing {
namespace {

// even and odd call each other, so that calls from inside go out and come back in; visit is called
// 25 times and leaves by a tail call, by a system call and by libc's qsort.
constexpr const char* filter_program = R"(
#include <cstdlib>
#include <unistd.h>
#define OWN extern "C" __attribute__((noipa))
volatile int seen = 0;
OWN int odd(int n);
OWN int even(int n) { const int below = n == 0 ? 0 : odd(n - 1); seen = seen + 1; return below + 1; }
OWN int odd(int n) { const int below = n == 0 ? 0 : even(n - 1); seen = seen + 2; return below + 2; }
OWN int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
OWN int finish(int n) { seen = seen + n; return seen; }
OWN int visit(int n) {
  int numbers[4] = {n % 7, n % 5, n % 3, n % 2};
  qsort(numbers, 4, sizeof(int), compare);
  if (n % 5 == 0) getppid();
  for (int i = 0; i < n % 4; ++i) if (numbers[i] & 1) seen = seen + 1;
  return finish(n);
}
int main() {
  for (int i = 0; i < 25; ++i) visit(i);
  return even(9) == 15 ? 0 : 1;
}
)";

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

bool inside(const std::vector<Range>& ranges, std::uint64_t address) {
  return std::ranges::any_of(ranges, [address](const Range& range) {
    return address >= range.begin && address < range.end;
  });
}

class Filter : public ::testing::Test {
protected:
  void SetUp() override {
    static const std::string why_not = why_no_recordings();
    if (!why_not.empty()) {
      GTEST_SKIP() << why_not;
    }
    compile(filter_program, folder_ / "program", "-no-pie"); // ELF addresses are the process's
  }

  [[nodiscard]] std::vector<Range> ranges(const std::vector<std::string>& names) const {
    const auto functions = functions_by_nm(folder_ / "program");
    std::vector<Range> ranges;
    for (const std::string& name : names) {
      const SymbolRange symbol = functions.at(name);
      ranges.push_back({symbol.address, symbol.address + symbol.size});
    }
    return ranges;
  }

  static void expect_filtered(const Recording& recording, const std::vector<Range>& ranges) {
    EXPECT_EQ(recording.made.status, 0) << recording.made.err;
    EXPECT_EQ(recording.errors(), "");
    std::vector<BranchEvent> expected;
    for (BranchEvent event : recording.stepped()) {
      const bool leaves = inside(ranges, event.from); // for outside too: the packet says where
      if (leaves || inside(ranges, event.to)) {
        event.from = leaves ? event.from : 0;
        expected.push_back(event);
      }
    }
    const auto decoded = recording.decoded("b");
    ASSERT_EQ(decoded.size(), expected.size());
    for (std::size_t index = 0; index < decoded.size(); ++index) {
      ASSERT_TRUE(decoded[index].same_transfer(expected[index]))
          << index << ": perf " << decoded[index].kind << ", stepped " << expected[index].kind;
    }
  }

  Recording record_filtered(const std::vector<std::string>& filters,
                            const std::vector<std::string>& more = {}) {
    std::vector<std::string> options{"--start-at", "main"};
    for (const std::string& filter : filters) {
      options.insert(options.end(), {"--filter", filter + " @ " + (folder_ / "program")});
    }
    options.insert(options.end(), more.begin(), more.end());
    return record(folder_ / "perf.data", cycle_accurate, options, {folder_ / "program"});
  }

  TemporaryFolder folder_;
};

TEST_F(Filter, OfAFunctionThatIsLeftInEveryWay) {
  const Recording recording = record_filtered({"filter visit"});
  expect_filtered(recording, ranges({"visit"}));
  const auto filtered = recording.filtered_truth();
  EXPECT_EQ(filtered.size(), 25U);
  for (const TruthCall& call : filtered) {
    EXPECT_EQ(call.symbol, "visit");
    EXPECT_EQ(call.state, "complete");
    EXPECT_LT(call.start, call.end);
  }
  EXPECT_EQ(recording.count("finish", "complete"), 25U); // the whole truth is there too
  EXPECT_NE(recording.dump().find("Filter string       filter 0x"), std::string::npos);
}

TEST_F(Filter, OfMutualRecursionFromOneSide) {
  const Recording recording = record_filtered({"filter even"}, {"--per-thread"});
  expect_filtered(recording, ranges({"even"}));
  EXPECT_EQ(recording.filtered_truth().size(), 5U);
}

TEST_F(Filter, ByOffsetAndSizeAndOfTwoFunctions) {
  const auto functions = functions_by_nm(folder_ / "program");
  const SymbolRange even = functions.at("even");
  // Linked without PIE at 0x400000. The segments have the same layout in the file and in memory.
  const std::string by_offset =
      "filter " + std::to_string(even.address - 0x400000) + "/" + std::to_string(even.size);
  const Recording recording = record_filtered({by_offset, "filter odd"});
  expect_filtered(recording, ranges({"even", "odd"}));
  EXPECT_EQ(recording.filtered_truth().size(), 10U);
}

TEST_F(Filter, OfABinaryThatIsNotThereTracesNothing) {
  compile("int other() { return 1; }\nint main() { return other(); }", folder_ / "other");
  const Recording recording =
      record(folder_ / "perf.data", cycle_accurate,
             {"--start-at", "main", "--filter", "filter main @ " + (folder_ / "other")},
             {folder_ / "program"});
  EXPECT_EQ(recording.errors(), "");
  EXPECT_TRUE(recording.decoded("b").empty());
  EXPECT_EQ(recording.count("visit", "complete"), 25U);
}

} // namespace
} // namespace ptlens::ptsim::testing
