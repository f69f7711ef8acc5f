// Calls in compiled programs: tail calls, recursion, the parts and copies of one function. The
// expected numbers of each sample are those of its own loops.
#include "sample_runs.hpp"
#include "support/run_command.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

namespace ptlens::stacks::testing {
namespace {

class CallRows : public ::testing::Test {
protected:
  void SetUp() override {
    static const std::string why_not = why_no_samples();
    if (!why_not.empty()) {
      GTEST_SKIP() << why_not;
    }
  }
};

TEST_F(CallRows, AFunctionThatEndsInATailCallHasAllItsCalls) {
  for_each_run({.source = "tail.c"}, all_variants(), [](const SampleRun& run) {
    const bool jumps = run.variant.optimised;
    const CallState complete = CallState::complete;
    expect_calls(run, {{"start", "chain", complete, false, 5},
                       {"middle", "start", complete, jumps, 5},
                       {"last", "middle", complete, jumps, 5},
                       {"last", "by_pointer", complete, jumps, 4},
                       {"last", "maybe", complete, jumps, 2},
                       {"even", "mutual", complete, false, 1},
                       {"even", "odd", complete, jumps, 3},
                       {"odd", "even", complete, jumps, 3},
                       {"by_pointer", "main", complete, false, 4},
                       {"maybe", "main", complete, false, 4},
                       {"to_library", "main", complete, false, 4},
                       {"rand_r", "to_library", complete, jumps, 4}});
    // A caller includes its tail callee: all three end at the one return.
    const auto starts = run.calls("start");
    const auto lasts = run.calls("last");
    ASSERT_EQ(starts.size(), 5U);
    ASSERT_GE(lasts.size(), 5U);
    for (std::size_t i = 0; jumps && i < starts.size(); ++i) {
      EXPECT_EQ(run.end(starts[i]), run.end(lasts[i]));
    }
    expect_truth(run);
    expect_time_adds_up(run);
  });
}

TEST_F(CallRows, ThreeRecursiveActivationsAreThreeCalls) {
  for_each_run({.source = "recursion.c"}, all_variants(), [](const SampleRun& run) {
    const CallState complete = CallState::complete;
    expect_calls(run, {{"three", "main", complete, false, 1},
                       {"three", "three", complete, false, 2},
                       {"ping", "main", complete, false, 1},
                       {"ping", "pong", complete, false, 2},
                       {"pong", "ping", complete, false, 2},
                       {"fibonacci", "main", complete, false, 1},
                       {"fibonacci", "fibonacci", complete, false, 40}});
    // Inclusive time counts the outermost activation only.
    for (const char* name : {"three", "fibonacci"}) {
      std::size_t outermost = 0;
      for (const std::uint32_t call : run.calls(name)) {
        outermost += run.measurement->calls.inner[call] == 0 ? 1 : 0;
      }
      EXPECT_EQ(outermost, 1U) << name;
    }
    expect_truth(run);
    expect_time_adds_up(run);
  });
}

TEST_F(CallRows, InclusiveTimeOfMutualRecursionCountsOutermostActivationsOnly) {
  for_each_run({.source = "recursion.c"}, few_variants(), [](const SampleRun& run) {
    const CallTable& table = run.measurement->calls;
    for (const char* name : {"ping", "pong"}) {
      const auto calls = run.calls(name);
      ASSERT_GE(calls.size(), 2U);
      std::uint64_t inclusive = 0;
      std::uint64_t all = 0;
      for (const std::uint32_t call : calls) {
        inclusive += table.inner[call] == 0 ? table.latency[call] : 0;
        all += table.latency[call];
      }
      EXPECT_EQ(inclusive, table.latency[calls.front()]) << name; // contains all the others
      EXPECT_LT(inclusive, all) << name;
    }
  });
}

std::vector<Variant> splitting_variants() {
  std::vector<Variant> variants;
  for (const Variant& variant : all_variants()) {
    variants.push_back(variant);
    if (!variant.is_gcc() && variant.optimised) {
      variants.back().flags.insert(
          variants.back().flags.end(),
          {"-mllvm", "-hot-cold-split=true", "-mllvm", "-hotcoldsplit-threshold=-1"});
    }
  }
  return variants;
}

TEST_F(CallRows, HotAndColdPartsAndCopiesAreOneFunction) {
  std::set<std::string> made; // symbols of copies and parts
  for_each_run({.source = "parts.c"}, splitting_variants(), [&made](const SampleRun& run) {
    const bool parted = run.variant.is_gcc() && run.variant.optimised;
    const bool inlined = !parted && run.variant.optimised;
    const CallState complete = CallState::complete;
    std::vector<Edge> edges{{"split", "main", complete, false, 9},
                            {"complain", "split", complete, false, 6},
                            {"reshaped", "main", complete, false, 4},
                            {"fixed", "main", complete, false, 9}};
    if (parted) { // the short half is inlined into both callers
      edges.insert(edges.end(), {{"partial", "partial_one", complete, false, 3},
                                 {"partial", "partial_two", complete, false, 3},
                                 {"partial", "main", complete, false, 3},
                                 {"leaf", "partial", complete, false, 64}});
    } else if (!inlined) {
      edges.insert(edges.end(), {{"partial", "partial_one", complete, false, 4},
                                 {"partial", "partial_two", complete, false, 4},
                                 {"partial", "main", complete, false, 3},
                                 {"leaf", "partial", complete, false, 64}});
    }
    expect_calls(run, edges);
    for (const char* name : {"split", "partial", "reshaped", "fixed"}) {
      std::set<FunctionId> functions;
      for (const std::uint32_t call : run.calls(name)) {
        functions.insert(run.measurement->calls.function[call]);
      }
      EXPECT_LE(functions.size(), 1U) << name;
    }
    expect_time_adds_up(run);
    for (const std::string& symbol : run.symbols()) {
      made.insert(symbol);
    }
  });
  for (const char* name : {"split.cold", "partial.part.0", "fixed.constprop.0"}) {
    EXPECT_TRUE(made.contains(name)) << name << ": the compiler no longer makes it";
  }
}

// Builds the library of same_names.cpp as a file of that name.
std::string library(const std::string& name) {
  const std::string folder = PTLENS_BUILD_DIR "/samples/stacks";
  std::filesystem::create_directories(folder);
  const std::string file = fmt::format("{}/{}.{}.so", folder, name, ::getpid());
  test::run_command({"gcc", "-g", "-O2", "-shared", "-fPIC", "-o", file,
                     PTLENS_SOURCE_ROOT "/test/samples/stacks/same_names_library.c"});
  return file;
}

// Returns the calls by the file that contains the function and, if requested, its source file.
std::map<std::string, std::size_t> calls_by_file(const SampleRun& run, const std::string& name,
                                                 bool source) {
  std::map<std::string, std::size_t> counts;
  for (const std::uint32_t call : run.calls(name)) {
    const FunctionInfo& function =
        run.measurement->functions[run.measurement->calls.function[call]];
    const std::string& file = source ? function.file : function.binary;
    ++counts[std::filesystem::path(file).filename()];
  }
  return counts;
}

TEST_F(CallRows, FunctionsOfOneNameAreDistinguished) {
  Sample sample{.source = "same_names.cpp"};
  sample.libraries = {PTLENS_SOURCE_ROOT "/test/samples/stacks/same_names_other.cpp", "-ldl"};
  sample.arguments = {library("libone"), library("libtwo")};
  for_each_run(sample, few_variants(), [&sample](const SampleRun& run) {
    using Counts = std::map<std::string, std::size_t>;
    EXPECT_EQ(calls_by_file(run, "local(int)", true),
              (Counts{{"same_names.cpp", 3}, {"same_names_other.cpp", 5}}));
    const auto name = [&sample](std::size_t index) {
      return std::filesystem::path(sample.arguments[index]).filename().string();
    };
    EXPECT_EQ(calls_by_file(run, "exported", false), (Counts{{name(0), 7}, {name(1), 8}}));
    EXPECT_EQ(run.calls("step(int)").size(), 4U);
    EXPECT_EQ(run.calls("step(double)").size(), 6U);
  });
  for (const std::string& file : sample.arguments) {
    std::filesystem::remove(file);
  }
}

TEST_F(CallRows, CallsOfPositionIndependentProgramsHaveLines) {
  std::vector<Variant> variants = all_variants();
  std::erase_if(variants, [](const Variant& variant) {
    return std::ranges::find(variant.flags, "-pie") == variant.flags.end();
  });
  ASSERT_FALSE(variants.empty());
  for_each_run({.source = "tail.c"}, variants, [](const SampleRun& run) {
    std::ifstream source(PTLENS_SOURCE_ROOT "/test/samples/stacks/tail.c");
    std::uint32_t line = 1;
    for (std::string text;
         std::getline(source, text) && text.find("sum += start(i)") == std::string::npos;) {
      ++line;
    }
    for (const std::uint32_t call : run.calls("start")) {
      const CallSite& site = run.measurement->sites[run.measurement->calls.site[call]];
      EXPECT_EQ(std::filesystem::path(site.file).filename(), "tail.c");
      EXPECT_EQ(site.line, line);
    }
  });
}

} // namespace
} // namespace ptlens::stacks::testing
