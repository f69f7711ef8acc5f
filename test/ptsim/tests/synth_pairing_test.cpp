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
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace ptlens::ptsim::synth::testing {
namespace {

using ptsim::testing::TemporaryFolder;

struct Decoded {
  std::map<std::int32_t, std::vector<flow::Branch>> branches; // by thread
  std::size_t paired = 0;                                     // calls
  std::size_t system_calls = 0;                               // inside paired calls
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
      decoded.system_calls += paired == nullptr ? 0 : paired->system_calls.size();
      stacks::list_all_branches(*run);
      std::vector<flow::Branch>& branches = decoded.branches[run->tid];
      branches.insert(branches.end(), run->branches.begin(), run->branches.end());
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

// What a recording contains, and what of it was paired.
struct Counts {
  std::size_t calls = 0;
  std::size_t paired = 0;
  std::size_t system_calls = 0;
  std::size_t paired_system_calls = 0;
};

void check(const std::vector<std::string>& arguments, const flow::DecodeOptions& decode,
           Counts& counts) {
  SCOPED_TRACE(command_for(arguments));
  const TemporaryFolder folder;
  SynthOptions options = options_of(arguments);
  options.output = folder / "perf.data";
  const auto made = synthesise(options, walked_graph());
  ASSERT_TRUE(made) << made.error().one_line();
  const Decoded plain = decoded(options.output, {}, {});
  const Decoded ours = decoded(options.output, stacks::make_call_pairing, decode);
  EXPECT_EQ(plain.paired, 0U);
  EXPECT_EQ(ours.branches.size(), plain.branches.size());
  for (const auto& [tid, branches] : plain.branches) {
    SCOPED_TRACE(tid);
    ASSERT_TRUE(ours.branches.contains(tid));
    const std::vector<flow::Branch>& paired = ours.branches.at(tid);
    EXPECT_EQ(calls_and_breaks(paired), calls_and_breaks(branches));
    const auto jumps = static_cast<std::size_t>(std::ranges::count_if(paired, is_jump));
    EXPECT_EQ(jumps_in_order(paired, branches), jumps);
    const auto count = [&branches](flow::BranchKind kind) {
      return static_cast<std::size_t>(std::ranges::count(branches, kind, &flow::Branch::kind));
    };
    counts.calls += count(flow::BranchKind::call);
    counts.system_calls += count(flow::BranchKind::syscall);
  }
  counts.paired += ours.paired;
  counts.paired_system_calls += ours.system_calls;
}

// `timing` is what the trace has of timing packets.
void check_styles(const std::string& timing) {
  Counts counts;
  for (std::uint64_t seed = 0; seed < 15; ++seed) {
    constexpr const char* styles[] = {"mixed", "branchy", "predictable", "call-heavy",
                                      "loop-heavy"};
    std::vector<std::string> arguments = {fmt::format("--seed={}", seed),
                                          "--bytes=60000",
                                          "--threads=1",
                                          "--per-thread",
                                          timing,
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
          {.workers = 1 + static_cast<unsigned>(seed % 3), .segment_bytes = segment_bytes}, counts);
  }
  EXPECT_GT(counts.paired, counts.calls / 2)
      << "most calls of these traces return inside a stretch";
}

TEST(PairedCalls, AreTheBranchesOfADecoderThatPairsNone) {
  check_styles("--cyc");
}

TEST(PairedCalls, AreTheSameWhereTheTimeOfAPacketIsKnownLater) {
  check_styles("--no-cyc");
  check_styles("--event=intel_pt/cyc=0,mtc_period=9/u");
}

TEST(PairedCalls, ContainSystemCallsOfTheSameThread) {
  Counts counts;
  const std::vector<std::vector<std::string>> buffers = {{"--threads=1", "--per-thread"},
                                                         {"--threads=3", "--per-thread"},
                                                         {"--threads=4", "--cpus=2"}};
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    std::vector<std::string> arguments = {fmt::format("--seed={}", seed), "--bytes=60000", "--cyc",
                                          "--style=predictable"};
    arguments.insert(arguments.end(), buffers[seed % 3].begin(), buffers[seed % 3].end());
    if (seed % 4 == 1) {
      arguments.emplace_back("--signals=0.5");
    }
    if (seed % 4 == 2) {
      arguments.emplace_back("--fault=ovf:every=4000");
    }
    if (seed % 4 == 3) {
      arguments.emplace_back("--unwind=0.01");
    }
    const std::uint64_t segment_bytes = seed % 2 == 0 ? 1 : 256U << 10U;
    check(arguments,
          {.workers = 1 + static_cast<unsigned>(seed % 2), .segment_bytes = segment_bytes}, counts);
  }
  EXPECT_GT(counts.paired_system_calls, counts.system_calls / 4);
}

} // namespace
} // namespace ptlens::ptsim::synth::testing
