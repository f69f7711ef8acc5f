// Made-up recordings, judged by perf's decoder: it must see the calls and returns that the walk
// wrote down, in order, and complain about nothing but what was asked for.
#include "harness.hpp"
#include "synth/synth.hpp"
#include "synth_harness.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

namespace ptlens::ptsim::synth::testing {
namespace {

using ptsim::testing::TemporaryFolder;

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(CodeGraph, TheWayOutIsCheaperWithEachStep) {
  const CodeGraph& graph = walked_graph();
  ASSERT_GT(graph.usable().size(), 500U);
  std::size_t blocks = 0;
  for (const Block& block : graph.blocks()) {
    if (block.cost == no_exit) {
      continue;
    }
    ++blocks;
    const auto cost = [&graph](BlockId id) {
      return id == no_block ? no_exit : graph.block(id).cost;
    };
    switch (block.end) {
    case End::conditional:
      EXPECT_LT(std::min(cost(block.next), cost(block.taken)), block.cost);
      break;
    case End::call:
      EXPECT_EQ(std::uint64_t{cost(block.next)} + cost(block.taken) + block.cycles, block.cost);
      break;
    case End::ret:
    case End::indirect_jump:
      EXPECT_GE(block.cost, block.cycles);
      break;
    default:
      EXPECT_LT(cost(block.next), block.cost);
    }
  }
  EXPECT_GT(blocks, 5000U);
}

TEST(CodeGraph, ColdPartsBelongToWhoJumpsThere) {
  const CodeGraph& graph = walked_graph();
  std::size_t cold = 0;
  for (const Block& block : graph.blocks()) {
    const FunctionNode& function = graph.function(block.function);
    const ElfCode& elf = graph.binaries()[function.binary];
    if (block.begin - function.address < function.size || function.stub) {
      continue;
    }
    const auto symbol = elf.symbol_before(block.begin);
    ASSERT_TRUE(symbol);
    EXPECT_TRUE(elf.symbols()[*symbol].name.starts_with(function.name + ".cold"));
    ++cold;
  }
  EXPECT_GT(cold, 0U);
}

class ByPerf : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(ByPerf, SeesTheCallsAndReturnsOfTheWalk) {
  if (ptsim::testing::run({"perf", "--version"}).status != 0) {
    GTEST_SKIP() << "perf is not installed, so nothing can judge a recording";
  }
  const TemporaryFolder folder;
  SynthOptions options = options_of(GetParam());
  options.output = folder / "perf.data";
  options.branches = folder / "branches";
  options.bytes = 24 << 10;
  const auto made = synthesise(options, walked_graph());
  ASSERT_TRUE(made) << made.error().one_line();
  const TransfersByThread truth = written_down(options.branches);
  EXPECT_FALSE(truth.empty());
  EXPECT_EQ(difference(truth, decoded_by_perf(options.output)), "") << command_for(GetParam());
  const std::vector<std::string> expected{"Overflow packet", "Lost trace data"};
  EXPECT_TRUE(
      errors_by_perf(options.output, options.faults.empty() ? std::vector<std::string>{} : expected)
          .empty())
      << command_for(GetParam());
}

using Arguments = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(
    Recordings, ByPerf,
    ::testing::Values(
        Arguments{"--seed=1"}, Arguments{"--seed=2", "--cyc", "--style=call-heavy"},
        Arguments{"--seed=3", "--threads=4", "--cpus=2", "--slice=40", "--style=branchy"},
        Arguments{"--seed=4", "--threads=5", "--cpus=3", "--slice=40", "-a", "--cyc"},
        Arguments{"--seed=5", "--threads=3", "--cpus=2", "--slice=40", "--per-thread"},
        Arguments{"--seed=6", "--unwind=0.01", "--signals=0.3", "--style=loop-heavy"},
        Arguments{"--seed=7", "-e", "intel_pt/noretcomp,psb_period=0,mtc=0/u"},
        Arguments{"--seed=8", "--fault=ovf:every=3000", "--threads=3", "--slice=40"},
        Arguments{"--seed=9", "--fault=truncate:every=3000", "--cyc", "--threads=3", "--cpus=2"},
        Arguments{"--seed=10", "--fault=no-pgd:every=3000", "--threads=3", "--slice=40"}));

TEST(Synth, TheSameSeedGivesTheSameRecording) {
  const TemporaryFolder folder;
  std::vector<std::string> files;
  for (const char* seed : {"--seed=5", "--seed=5", "--seed=6"}) {
    SynthOptions options = options_of({seed, "--threads=3", "--cpus=2", "--bytes=20000"});
    options.command_line = {"same"};
    options.output = folder / std::to_string(files.size());
    ASSERT_TRUE(synthesise(options, walked_graph()));
    files.push_back(contents(options.output));
  }
  EXPECT_EQ(files[0], files[1]);
  EXPECT_NE(files[0], files[2]);
}

TEST(Synth, CountsAreTheSumsOfTheCalls) {
  const TemporaryFolder folder;
  SynthOptions options = options_of({"--seed=3", "--threads=3", "--cpus=2", "--bytes=30000",
                                     "--unwind=0.01", "--fault=ovf:every=4000"});
  options.output = folder / "perf.data";
  options.truth = folder / "truth";
  options.counts = folder / "counts";
  ASSERT_TRUE(synthesise(options, walked_graph()));

  using Key = std::tuple<long, std::string, std::string>; // thread, binary, address
  std::map<Key, std::map<std::string, std::uint64_t>> calls;
  std::map<Key, double> latency;
  std::ifstream truth(options.truth);
  for (std::string line; std::getline(truth, line);) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("function")) {
      const Key key{json["tid"], json["binary"], json["address"]};
      ++calls[key][json["state"]];
      if (json["state"] == "complete") {
        latency[key] += json["end"].get<double>() - json["start"].get<double>();
      }
    }
  }
  EXPECT_GT(calls.size(), 100U);
  std::size_t rows = 0;
  std::ifstream counts(options.counts);
  for (std::string line; std::getline(counts, line); ++rows) {
    std::stringstream fields(line);
    std::string tid;
    std::string binary;
    std::string address;
    std::string symbol;
    for (std::string* field : {&tid, &binary, &address, &symbol}) {
      std::getline(fields, *field, '\t');
    }
    const Key key{std::stol(tid), binary, address};
    for (const char* state : {"complete", "incomplete", "unwound", "lost"}) {
      std::uint64_t count = 0;
      fields >> count;
      EXPECT_EQ(calls[key][state], count) << symbol << ' ' << state;
    }
    double total = 0;
    fields >> total;
    // Each line's times are rounded to ns, the sum is not.
    EXPECT_NEAR(total, latency[key], 1.0 + static_cast<double>(calls[key]["complete"])) << symbol;
  }
  EXPECT_EQ(rows, calls.size());
}

TEST(SynthOptions, WhatIsWrongIsNamed) {
  const auto message = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"ptsim", "synth"});
    const auto options = parse_synth_options(arguments);
    return options ? "" : options.error().message;
  };
  EXPECT_EQ(message({}), "no binary is named");
  EXPECT_EQ(message({"--style", "wild", "a"}), "there is no style 'wild'");
  EXPECT_EQ(message({"--fault", "fire", "a"}), "there is no fault 'fire'");
  EXPECT_EQ(message({"--fault", "ovf:every=0", "a"}), "there is no fault 'ovf:every=0'");
  EXPECT_EQ(message({"--filter", "stop f @ a", "a"}), "filter 'stop f @ a' is not simulated");
}

} // namespace
} // namespace ptlens::ptsim::synth::testing
