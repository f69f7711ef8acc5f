// Properties of our own pipeline over recordings that nobody has seen before: whatever the threads,
// processors, faults and code, the calls are those of the walk, in its order, nothing that spans
// lost trace is complete, times are right to within what is stated, and self times add up.
#include "cache/writing/writer.hpp"
#include "engine/cache/cached_calls.hpp"
#include "engine/engine.hpp"
#include "engine/recording/loaded_recording.hpp"
#include "engine/trace/trace_backend.hpp"
#include "harness.hpp"
#include "synth/random.hpp"
#include "synth_harness.hpp"
#include "synth_truth.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptlens::ptsim::synth::testing {
namespace {

using ptsim::testing::TemporaryFolder;

constexpr std::uint64_t one_by_perf_in = 24;

// The first seed and how many; SYNTH_SEEDS=1000,5000 in the environment asks for others.
std::pair<std::uint64_t, std::uint64_t> seeds() {
  std::pair<std::uint64_t, std::uint64_t> range{0, 240};
  if (const char* wanted = std::getenv("SYNTH_SEEDS"); wanted != nullptr) {
    char* end = nullptr;
    range.first = std::strtoull(wanted, &end, 10);
    range.second = *end == ',' ? std::strtoull(end + 1, nullptr, 10) : 1;
  }
  return range;
}

struct Recipe {
  std::vector<std::string> arguments;
  bool faults = false;
  bool misleads_perf = false;
};

Recipe recipe_of(std::uint64_t seed) {
  Random random(seed ^ 0x5eed);
  Recipe recipe;
  const auto add = [&recipe](std::string argument) {
    recipe.arguments.push_back(std::move(argument));
  };
  const auto one_of = [&random](std::vector<const char*> words) {
    return words[random.below(words.size())];
  };
  add(fmt::format("--seed={}", seed));
  add(fmt::format("--bytes={}", random.between(4000, 16000)));
  add(fmt::format("--threads={}", random.between(1, 5)));
  add(fmt::format("--cpus={}", random.between(1, 3)));
  add(fmt::format("--slice={}", one_of({"10", "40", "200"})));
  add(fmt::format("--style={}",
                  one_of({"mixed", "branchy", "predictable", "call-heavy", "loop-heavy"})));
  add(fmt::format("--depth={}", one_of({"6", "16", "32", "80"})));
  add(fmt::format("--event=intel_pt/{},{},{},{}/u", one_of({"cyc", "cyc=0"}),
                  one_of({"noretcomp=0", "noretcomp=1"}), one_of({"psb_period=0", "psb_period=3"}),
                  one_of({"mtc_period=3", "mtc_period=0", "mtc_period=5"})));
  const std::uint64_t buffers = random.below(4);
  if (buffers == 0) {
    add("--per-thread");
  } else if (buffers == 1) {
    add("-a");
  }
  if (random.chance(0.4)) {
    add(fmt::format("--unwind={}", one_of({"0.002", "0.02"})));
  }
  if (random.chance(0.4)) {
    add("--signals=0.3");
  }
  if (random.chance(0.6)) {
    recipe.faults = true;
    const std::uint64_t every = random.between(600, 4000);
    const char* first = one_of({"ovf", "truncate", "cut", "no-pgd"});
    add(fmt::format("--fault={}:every={}", first, every));
    recipe.misleads_perf = first == std::string_view("cut");
    if (random.chance(0.3)) {
      add(fmt::format("--fault={}:every={}", one_of({"ovf", "truncate"}), 2 * every));
    }
  }
  return recipe;
}

// The same binaries in each recording: read once.
Result<measure::test::MeasuredCalls> measured(const std::string& path,
                                              const flow::DecodeOptions& decode) {
  static auto store =
      std::make_unique<symbols::BinaryFinder>(symbols::BinaryFinder::Options{"", "", false});
  auto recording = perfdata::Recording::open(path);
  if (!recording) {
    return std::unexpected(recording.error());
  }
  auto spaces = std::make_unique<symbols::AddressSpaces>(*recording, *store);
  auto context_switches = std::make_unique<perfdata::ContextSwitches>(recording->switches());
  engine::LoadedRecording loaded{.path = path,
                                 .recording = std::move(*recording),
                                 .store = std::move(store),
                                 .spaces = std::move(spaces),
                                 .context_switches = std::move(context_switches),
                                 .decode = decode};
  cache::Writer writer(cache::Writer::Options{.encoders = decode.workers > 1 ? decode.workers : 0});
  auto measurement = engine::measure_trace(loaded, writer, {}, Progress());
  store = std::move(loaded.store);
  if (!measurement) {
    return std::unexpected(measurement.error());
  }
  if (auto finished = engine::finish_cache(*measurement, writer, {}, false); !finished) {
    return std::unexpected(finished.error());
  }
  return measure::test::MeasuredCalls(std::move(*measurement));
}

// Where two decoders' measurements of one recording differ; empty: nowhere. Each may know times
// that the other does not, so that latencies need only be possible for both.
std::string first_difference(const measure::test::MeasuredCalls& one,
                             const measure::test::MeasuredCalls& other) {
  const auto line = [](const measure::test::MeasuredCalls& measurement, std::size_t call) {
    const stacks::CallTable& calls = measurement.calls;
    return call >= calls.size()
               ? std::string("no call")
               : fmt::format("{} in thread {}, state {}",
                             measurement.functions[calls.function[call]].name, calls.thread[call],
                             static_cast<int>(calls.state[call]));
  };
  for (std::size_t call = 0; call < std::max(one.calls.size(), other.calls.size()); ++call) {
    if (line(one, call) != line(other, call)) {
      return fmt::format("call {}: {}; {}", call, line(one, call), line(other, call));
    }
    const auto [less, more] = std::minmax(one.calls.latency[call], other.calls.latency[call]);
    const bool whole = one.calls.state[call] != stacks::CallState::incomplete;
    if (whole && more - less > one.calls.uncertainty[call] + other.calls.uncertainty[call]) {
      return fmt::format("call {}, {}: {} ns; {} ns", call, line(one, call),
                         one.calls.latency[call], other.calls.latency[call]);
    }
  }
  return one.recording.gaps == other.recording.gaps
             ? ""
             : fmt::format("{} gaps; {} gaps", one.recording.gaps, other.recording.gaps);
}

// Per thread: self times of all calls, and the time from the first to the last that was traced.
std::string check_self_times(const measure::test::MeasuredCalls& measurement) {
  std::vector<std::uint64_t> self(measurement.threads.size());
  const stacks::CallTable& calls = measurement.calls;
  for (std::size_t call = 0; call < calls.size(); ++call) {
    if (calls.children[call] > calls.latency[call]) {
      return fmt::format("call {} of {}: children {} ns, latency {} ns", call,
                         measurement.functions[calls.function[call]].name, calls.children[call],
                         calls.latency[call]);
    }
    self[calls.thread[call]] += calls.self(call);
  }
  for (std::size_t index = 0; index < measurement.threads.size(); ++index) {
    const stacks::ThreadInfo& thread = measurement.threads[index];
    if (self[index] != thread.last_ns - thread.first_ns) {
      return fmt::format("thread {}: self times {} ns, traced {} ns", thread.tid, self[index],
                         thread.last_ns - thread.first_ns);
    }
  }
  return "";
}

// A function's inclusive time: its outermost activations.
std::string check_inclusive_times(const measure::test::MeasuredCalls& measurement) {
  std::map<std::pair<std::uint32_t, stacks::FunctionId>, std::uint64_t> inclusive;
  const stacks::CallTable& calls = measurement.calls;
  for (std::size_t call = 0; call < calls.size(); ++call) {
    if (calls.inner[call] == 0) {
      inclusive[{calls.thread[call], calls.function[call]}] += calls.latency[call];
    }
  }
  for (const auto& [of, ns] : inclusive) {
    const stacks::ThreadInfo& thread = measurement.threads[of.first];
    if (ns > thread.last_ns - thread.first_ns) {
      return fmt::format("thread {}: {} takes {} ns of {} ns", thread.tid,
                         measurement.functions[of.second].name, ns,
                         thread.last_ns - thread.first_ns);
    }
  }
  return "";
}

// Latencies are right to within their uncertainty. 3 ns: times are rounded to TSC ticks and ns.
std::string check_latencies(const View& truth, const View& ours) {
  constexpr std::uint64_t rounding = 3;
  for (const auto& [tid, thread] : truth) {
    const auto& other = ours.at(tid).calls;
    for (std::size_t index = 0; index < thread.calls.size(); ++index) {
      const SeenCall& exact = thread.calls[index];
      const SeenCall& call = other[index];
      const std::uint64_t error = exact.latency > call.latency ? exact.latency - call.latency
                                                               : call.latency - exact.latency;
      if (exact.state == stacks::CallState::complete && error > call.uncertainty + rounding) {
        return fmt::format("thread {}: call {} of {:#x} took {} ns, ours says {} ± {}", tid, index,
                           exact.address, exact.latency, call.latency, call.uncertainty);
      }
    }
  }
  return "";
}

// By one, two or seven threads, in one segment or as many as there are PSBs.
flow::DecodeOptions shared_out(std::uint64_t seed) {
  constexpr std::array<unsigned, 3> workers = {1, 2, 7};
  constexpr std::array<std::uint64_t, 3> segment_bytes = {1, 3000, 256U << 10U};
  return {.workers = workers.at(seed % workers.size()),
          .segment_bytes = segment_bytes.at(seed / workers.size() % segment_bytes.size())};
}

void check(std::uint64_t seed) {
  const TemporaryFolder folder;
  const Recipe recipe = recipe_of(seed);
  SCOPED_TRACE(command_for(recipe.arguments));
  SynthOptions options = options_of(recipe.arguments);
  options.output = folder / "perf.data";
  const bool by_perf = seed % one_by_perf_in == 0 && !recipe.misleads_perf;
  options.branches = by_perf ? folder / "branches" : "";
  View truth;
  const auto made =
      synthesise(options, walked_graph(), [&truth](const Process& process, const Clock& clock) {
        return collect(truth, process, clock);
      });
  ASSERT_TRUE(made) << made.error().one_line();
  const auto measurement = measured(options.output, shared_out(seed));
  ASSERT_TRUE(measurement) << measurement.error().one_line();
  const View ours = view_of(*measurement);
  const std::string different = difference(truth, ours);
  EXPECT_EQ(different, "");
  EXPECT_EQ(check_self_times(*measurement), "");
  EXPECT_EQ(check_inclusive_times(*measurement), "");
  if (different.empty()) {
    EXPECT_EQ(check_latencies(truth, ours), "");
  }
  if (!recipe.faults) {
    EXPECT_EQ(measurement->recording.gaps, 0U);
    EXPECT_EQ(measurement->recording.decode_errors, 0U);
  }
  const auto by_libipt = measured(options.output, {.decoder = flow::Decoder::libipt});
  ASSERT_TRUE(by_libipt) << by_libipt.error().one_line();
  EXPECT_EQ(first_difference(*measurement, *by_libipt), "");
  if (by_perf && ptsim::testing::run({"perf", "--version"}).status == 0) {
    EXPECT_EQ(difference(written_down(options.branches), decoded_by_perf(options.output)), "");
  }
}

// Behind an overflow the processor sends no time at first: where a call began in that interval is
// known to microseconds. It is shown no longer than it was, but for what cycle packets leave open.
void check_behind_overflows(std::uint64_t seed, flow::Decoder decoder, std::size_t& wide) {
  constexpr std::uint64_t most_ns = 100;
  const TemporaryFolder folder;
  const std::vector<std::string> arguments = {fmt::format("--seed={}", seed), "--bytes=30000",
                                              "--threads=2", "--cyc", "--fault=ovf:every=400"};
  SCOPED_TRACE(command_for(arguments));
  SynthOptions options = options_of(arguments);
  options.output = folder / "perf.data";
  View truth;
  const auto made =
      synthesise(options, walked_graph(), [&truth](const Process& process, const Clock& clock) {
        return collect(truth, process, clock);
      });
  ASSERT_TRUE(made) << made.error().one_line();
  const auto measurement = measured(options.output, {.decoder = decoder});
  ASSERT_TRUE(measurement) << measurement.error().one_line();
  const View ours = view_of(*measurement);
  for (const auto& [tid, thread] : truth) {
    const auto& found = ours.at(tid).calls;
    ASSERT_TRUE(
        std::ranges::equal(thread.calls, found, [](const SeenCall& one, const SeenCall& other) {
          return one.same_call(other);
        }));
    for (std::size_t index = 0; index < thread.calls.size(); ++index) {
      const SeenCall& exact = thread.calls[index];
      const SeenCall& call = found[index];
      if (exact.state == stacks::CallState::complete) {
        wide += call.uncertainty > 1000 ? 1 : 0;
        EXPECT_LE(call.latency, exact.latency + most_ns) << "± " << call.uncertainty;
      }
    }
  }
}

TEST(BehindAnOverflow, NoCallIsShownLongerThanItWas) {
  for (const flow::Decoder decoder : {flow::Decoder::graph, flow::Decoder::libipt}) {
    std::size_t wide = 0;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      check_behind_overflows(seed, decoder, wide);
    }
    EXPECT_GT(wide, 10U) << "no call began in such an interval";
  }
}

// A page fault as the trace has it: an asynchronous FUP in the middle of a function, and tracing on
// again at the same instruction. It ends no call and begins none.
TEST(AnInterruptInsideAFunction, ComesBackToItsInstructionAndCostsNoCall) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const TemporaryFolder folder;
    const std::vector<std::string> arguments = {fmt::format("--seed={}", seed),
                                                "--bytes=20000",
                                                "--threads=1",
                                                "--cpus=1",
                                                "--slice=1000",
                                                "--interrupts=2",
                                                "--cyc"};
    SCOPED_TRACE(command_for(arguments));
    SynthOptions options = options_of(arguments);
    options.output = folder / "perf.data";
    options.branches = folder / "branches";
    View truth;
    const auto made =
        synthesise(options, walked_graph(), [&truth](const Process& process, const Clock& clock) {
          return collect(truth, process, clock);
        });
    ASSERT_TRUE(made) << made.error().one_line();
    std::size_t came_back = 0;
    std::ifstream branches(options.branches);
    std::string interrupted;
    std::string tid;
    std::string from;
    std::string to;
    for (std::string kind; branches >> tid >> from >> to >> kind;) {
      came_back += kind == "on" && to == interrupted ? 1 : 0;
      interrupted = kind == "interrupt" ? from : "";
    }
    EXPECT_GT(came_back, 20U);
    for (const flow::Decoder decoder : {flow::Decoder::graph, flow::Decoder::libipt}) {
      const auto measurement = measured(options.output, {.decoder = decoder});
      ASSERT_TRUE(measurement) << measurement.error().one_line();
      const View ours = view_of(*measurement);
      EXPECT_EQ(difference(truth, ours), "");
      EXPECT_EQ(check_latencies(truth, ours), "");
      EXPECT_EQ(check_self_times(*measurement), "");
      EXPECT_EQ(measurement->recording.gaps, 0U);
    }
  }
}

struct WalkedCall {
  std::uint64_t start = 0; // ns
  std::uint64_t end = 0;
  bool began = false; // in the walk
};
using WalkedCalls = std::map<std::int32_t, std::vector<WalkedCall>>; // by tid, by start

// All calls of one function, whatever of them is in the trace, from the function's own first
// instruction on.
class CallsOf : public CallSink {
public:
  CallsOf(FunctionId function, WalkedCalls& calls, const Clock& clock)
      : function_(function), calls_(&calls), clock_(&clock) {}

  void ended(const EndedCall& call) override {
    if (call.frame->function != function_) {
      return;
    }
    std::vector<WalkedCall>& calls = (*calls_)[call.tid];
    // Stubs are outside the filter. A thread can be interrupted or switched out in one.
    const std::uint64_t start = std::max(call.frame->start, call.frame->entered);
    calls.push_back(
        {clock_->ns_at(start), clock_->ns_at(call.end), call.frame->kind != Frame::Kind::root});
    std::ranges::sort(calls, {}, &WalkedCall::start);
  }
  void lost(pid_t, std::uint64_t, std::uint64_t, std::string_view) override {}

private:
  FunctionId function_;
  WalkedCalls* calls_;
  const Clock* clock_;
};

std::uint64_t apart(std::uint64_t one, std::uint64_t other) {
  return one < other ? other - one : one - other;
}

// A function that the walk of the seed calls, the only one of its name in its file.
FunctionId some_callee(const SynthOptions& options, Random& random) {
  View whole;
  const auto made =
      synthesise(options, walked_graph(), [&whole](const Process& process, const Clock& clock) {
        return collect(whole, process, clock);
      });
  const auto& calls = whole.begin()->second.calls;
  const auto functions = walked_graph().functions();
  for (;;) {
    const SeenCall& chosen = calls[random.below(calls.size())];
    const auto found = std::ranges::find_if(functions, [&](const FunctionNode& node) {
      return node.address == chosen.address &&
             walked_graph().binaries()[node.binary].path() == chosen.binary;
    });
    const auto same_name = std::ranges::count_if(functions, [&](const FunctionNode& node) {
      return node.name == found->name && node.binary == found->binary;
    });
    if (same_name == 1) {
      return static_cast<FunctionId>(found - functions.begin());
    }
  }
}

// Only the code of one function is traced.
void check_filtered(std::uint64_t seed) {
  Random random(seed ^ 0xf117e4);
  const TemporaryFolder folder;
  const std::vector<std::string> arguments = {fmt::format("--seed={}", seed), "--calls=3000",
                                              "--cyc",
                                              fmt::format("--threads={}", random.between(1, 4)),
                                              fmt::format("--cpus={}", random.between(1, 2))};
  SynthOptions options = options_of(arguments);
  options.output = folder / "perf.data";
  const FunctionId function = some_callee(options, random);
  const FunctionNode& node = walked_graph().function(function);
  const std::string binary(walked_graph().binaries()[node.binary].path());
  options.filter = FilterRequest{.function = node.name, .binary = binary};
  SCOPED_TRACE(
      fmt::format("{} --filter='filter {} @ {}'", command_for(arguments), node.name, binary));
  WalkedCalls truth;
  const auto made = synthesise(options, walked_graph(), [&](const Process&, const Clock& clock) {
    return std::make_unique<CallsOf>(function, truth, clock);
  });
  ASSERT_TRUE(made) << made.error().one_line();
  const auto measurement = measured(options.output, shared_out(seed));
  ASSERT_TRUE(measurement) << measurement.error().one_line();
  const stacks::CallTable& calls = measurement->calls;
  std::map<std::int32_t, std::size_t> seen;
  for (std::size_t call = 0; call < calls.size(); ++call) {
    const stacks::FunctionInfo& of = measurement->functions[calls.function[call]];
    if (of.binary != binary || of.address != node.address) {
      continue;
    }
    const std::int32_t tid = measurement->threads[calls.thread[call]].tid;
    const std::size_t index = seen[tid]++;
    ASSERT_LT(index, truth[tid].size()) << "thread " << tid;
    const WalkedCall& walked = truth[tid][index];
    constexpr std::uint64_t rounding = 2; // each of two times is a whole number
    const std::uint64_t most = calls.uncertainty[call] + rounding;
    const bool complete = calls.state[call] == stacks::CallState::complete;
    if (!walked.began) {
      EXPECT_FALSE(complete) << "call " << index;
      continue;
    }
    EXPECT_LE(apart(calls.start[call], walked.start), most) << "call " << index;
    if (complete) {
      EXPECT_LE(apart(calls.latency[call], walked.end - walked.start), most) << "call " << index;
    }
  }
  for (const auto& [tid, walked] : truth) {
    EXPECT_EQ(seen[tid], walked.size()) << "thread " << tid;
  }
}

// Workers are worth having: what they decode is taken as it is, also where no system call is near
// the cuts. Nothing is lost in these traces, so that each segment is met in the state it assumed.
TEST(Segments, AreTakenAsTheyAreWhereNothingIsLost) {
  const std::vector<std::vector<std::string>> kinds = {
      {"--cyc", "--per-thread", "--syscalls-every=1000"},
      {"--no-cyc", "--per-thread", "--syscalls-every=1000"},
      {"--cyc", "--threads=3", "--cpus=2", "--syscalls-every=1000"},
      {"--cyc", "--threads=3", "--cpus=2"},
  };
  for (std::vector<std::string> arguments : kinds) {
    arguments.insert(arguments.end(), {"--seed=11", "--bytes=200kb"});
    const TemporaryFolder folder;
    SCOPED_TRACE(command_for(arguments));
    SynthOptions options = options_of(arguments);
    options.output = folder / "perf.data";
    const auto made = synthesise(options, walked_graph(), {});
    ASSERT_TRUE(made) << made.error().one_line();
    engine::OpenOptions open;
    open.workers = 2;
    open.segment_bytes = 4096;
    const auto summary = engine::decode(options.output, open, true, [](const auto&...) {}, {});
    ASSERT_TRUE(summary) << summary.error().one_line();
    EXPECT_GE(summary->segments, 20U); // 200 kB in segments of 4 kB up to the next PSB
    EXPECT_EQ(summary->segments_again, 0U);
  }
}

class Seeds : public ::testing::TestWithParam<std::uint64_t> {};

class FilteredSeeds : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(FilteredSeeds, CallsOfTheFilteredFunctionAreThoseOfTheWalk) {
  check_filtered(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Properties, FilteredSeeds,
                         ::testing::Range(std::uint64_t{0}, std::uint64_t{150}));

TEST_P(Seeds, CallsAreThoseOfTheWalk) {
  check(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Properties, Seeds,
                         ::testing::Range(seeds().first, seeds().first + seeds().second));

} // namespace
} // namespace ptlens::ptsim::synth::testing
