// Calls are paired with their returns where nothing is in doubt. Converted back to branches, they
// are the branches of a decoder that pairs no calls.
#include "engine/recording/loaded_recording.hpp"
#include "engine/trace/trace_threads.hpp"
#include "harness.hpp"
#include "stacks/pairing/call_pairing.hpp"
#include "synth/synth.hpp"
#include "synth_harness.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace ptlens::ptsim::synth::testing {
namespace {

using ptsim::testing::TemporaryFolder;

struct Decoded {
  std::vector<flow::Branch> branches; // of one thread
  std::size_t paired = 0;             // calls
};

Decoded decoded(const std::string& recording, const flow::MakeConsumer& make_consumer,
                const flow::DecodeOptions& decode) {
  Decoded decoded;
  auto loaded = engine::load(recording, {});
  EXPECT_TRUE(loaded) << loaded.error().one_line();
  if (loaded) {
    loaded->decode = decode;
    engine::Branches source(*loaded, flow::Detail::calls, make_consumer);
    while (auto run = source.next()) {
      const stacks::PairedCalls* const paired = stacks::paired_calls(*run);
      decoded.paired += paired == nullptr ? 0 : paired->calls.size();
      stacks::list_all_branches(*run);
      decoded.branches.insert(decoded.branches.end(), run->branches.begin(), run->branches.end());
    }
  }
  return decoded;
}

bool is_jump(const flow::Branch& branch) {
  return branch.kind == flow::BranchKind::jump || branch.kind == flow::BranchKind::cond ||
         branch.kind == flow::BranchKind::indirect;
}

// Returns all branches that are no jumps, except calls that only read the instruction pointer.
std::vector<std::string> calls_and_breaks(const std::vector<flow::Branch>& branches) {
  std::vector<std::string> lines;
  for (const flow::Branch& branch : branches) {
    const bool reads_pointer =
        branch.kind == flow::BranchKind::call && branch.to == branch.from + branch.from_size;
    if (!is_jump(branch) && !reads_pointer) {
      lines.push_back(fmt::format("{} {} {:#x} {} {:#x} ± {}", branch.time_ns,
                                  flow::name(branch.kind), branch.from, branch.from_size, branch.to,
                                  branch.uncertainty_ns));
    }
  }
  return lines;
}

// Returns the number of jumps of `some` that occur in `all` in the same order.
std::size_t jumps_in_order(const std::vector<flow::Branch>& some,
                           const std::vector<flow::Branch>& all) {
  std::size_t found = 0;
  auto at = all.begin();
  for (const flow::Branch& branch : some) {
    if (is_jump(branch)) {
      at = std::find_if(at, all.end(), [&](const flow::Branch& other) {
        return other.kind == branch.kind && other.from == branch.from && other.to == branch.to;
      });
      if (at == all.end()) {
        return found;
      }
      ++at;
      ++found;
    }
  }
  return found;
}

void check(const std::vector<std::string>& arguments, const flow::DecodeOptions& decode,
           std::size_t& calls, std::size_t& paired) {
  SCOPED_TRACE(command_for(arguments));
  const TemporaryFolder folder;
  SynthOptions options = options_of(arguments);
  options.output = folder / "perf.data";
  const auto made = synthesise(options, walked_graph());
  ASSERT_TRUE(made) << made.error().one_line();
  const Decoded plain = decoded(options.output, {}, {});
  const Decoded ours = decoded(options.output, stacks::make_call_pairing, decode);
  EXPECT_EQ(plain.paired, 0U);
  EXPECT_EQ(calls_and_breaks(ours.branches), calls_and_breaks(plain.branches));
  const auto jumps = static_cast<std::size_t>(std::ranges::count_if(ours.branches, is_jump));
  EXPECT_EQ(jumps_in_order(ours.branches, plain.branches), jumps);
  calls += static_cast<std::size_t>(
      std::ranges::count(plain.branches, flow::BranchKind::call, &flow::Branch::kind));
  paired += ours.paired;
}

TEST(PairedCalls, AreTheBranchesOfADecoderThatPairsNone) {
  std::size_t calls = 0;
  std::size_t paired = 0;
  for (std::uint64_t seed = 0; seed < 15; ++seed) {
    constexpr const char* styles[] = {"mixed", "branchy", "predictable", "call-heavy",
                                      "loop-heavy"};
    std::vector<std::string> arguments = {fmt::format("--seed={}", seed),
                                          "--bytes=60000",
                                          "--threads=1",
                                          "--per-thread",
                                          "--cyc",
                                          fmt::format("--style={}", styles[seed % 5]),
                                          fmt::format("--syscalls-every={}", 1 + seed % 50)};
    if (seed % 4 == 1) {
      arguments.emplace_back("--unwind=0.01");
    }
    if (seed % 4 == 2) {
      arguments.emplace_back("--fault=ovf:every=4000");
    }
    const std::uint64_t segment_bytes = seed % 3 == 0 ? 1 : 256U << 10U;
    check(arguments,
          {.workers = 1 + static_cast<unsigned>(seed % 3), .segment_bytes = segment_bytes}, calls,
          paired);
  }
  EXPECT_GT(paired, calls / 2) << "most calls of these traces return inside a stretch";
}

} // namespace
} // namespace ptlens::ptsim::synth::testing
