// Changes of processes and their code: exec, fork, vfork, threads that end inside calls, libraries
// that are loaded and unloaded. The expected numbers of each sample are those of its own loops. On
// one simulated processor the order of all calls of all threads is that of the truth.
#include "sample_runs.hpp"
#include "support/run_command.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

namespace ptlens::stacks::testing {
namespace {

class ProcessRows : public ::testing::Test {
protected:
  void SetUp() override {
    static const std::string why_not = why_no_samples();
    if (!why_not.empty()) {
      GTEST_SKIP() << why_not;
    }
  }
};

const std::vector<std::string> on_one_processor{"--start-at", "main", "--cpus", "1"};

// The kernel and the C library decide what these tests are about, and every step of a loader
// counts: a program that is loaded, and one that is static and optimised.
std::vector<Variant> loaded_and_static() {
  std::vector<Variant> variants = all_variants();
  const Variant last = variants.back();
  variants.resize(1);
  variants.push_back(last);
  return variants;
}

// The second one is optimised.
std::vector<Variant> with_libraries() {
  std::vector<Variant> variants = all_variants();
  variants.resize(2);
  return variants;
}

struct KnownCall { // ns
  int tid = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t off_cpu = 0;
  std::uint64_t uncertainty = 0;
  CallState state = complete;
};

CallState state_of(const std::string& word) {
  return word == "complete" ? complete : word == "unwound" ? unwound : incomplete;
}

// Returns the calls whose start and end are known, by function, in order of start.
using KnownCalls = std::map<std::string, std::vector<KnownCall>>;

KnownCalls stepped(const SampleRun& run, const std::vector<std::string>& functions) {
  KnownCalls calls;
  std::ifstream file(run.recording + ".truth.jsonl");
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("call") && json.at("state") != "incomplete" &&
        std::ranges::find(functions, json.at("symbol").get<std::string>()) != functions.end()) {
      calls[json.at("symbol")].push_back({json.at("tid"), json.at("start"), json.at("end"),
                                          json.at("off_cpu"), 0, state_of(json.at("state"))});
    }
  }
  for (auto& [name, of] : calls) {
    std::ranges::stable_sort(of, {}, &KnownCall::start);
  }
  return calls;
}

KnownCalls measured(const SampleRun& run, const std::vector<std::string>& functions) {
  KnownCalls calls;
  const CallTable& table = run.measurement->calls;
  for (const std::string& name : functions) {
    for (const std::uint32_t call : run.calls(name)) {
      if (table.state[call] != incomplete) {
        calls[name].push_back({run.measurement->threads[table.thread[call]].tid, table.start[call],
                               run.end(call), table.off_cpu(call), table.uncertainty[call],
                               table.state[call]});
      }
    }
    std::ranges::stable_sort(calls[name], {}, &KnownCall::start);
  }
  return calls;
}

// Checks each call of these functions: its thread, time and end are those that ptsim stepped.
// Unwound calls end in the kernel, at a time that the trace does not report.
void expect_stepped(const SampleRun& run, const std::vector<std::string>& functions) {
  const KnownCalls expected = stepped(run, functions);
  const KnownCalls found = measured(run, functions);
  const auto apart = [](std::uint64_t a, std::uint64_t b) {
    return std::max(a, b) - std::min(a, b);
  };
  constexpr std::uint64_t rounding = 2;
  for (const std::string& name : functions) {
    ASSERT_EQ(found.at(name).size(), expected.at(name).size()) << name;
    for (std::size_t at = 0; at < found.at(name).size(); ++at) {
      const KnownCall& call = found.at(name)[at];
      const KnownCall& exact = expected.at(name)[at];
      SCOPED_TRACE(fmt::format("{} {}", name, at));
      const std::uint64_t inexact = call.uncertainty + rounding;
      EXPECT_EQ(call.state, exact.state);
      EXPECT_LE(apart(call.start, exact.start), inexact);
      if (call.state == complete) {
        EXPECT_EQ(call.tid, exact.tid);
        EXPECT_LE(apart(call.end - call.start, exact.end - exact.start), inexact);
        EXPECT_LE(apart(call.off_cpu, exact.off_cpu), inexact);
      }
    }
  }
}

// Returns the threads that called the function and the number of calls of each, most calls first.
std::vector<std::size_t> calls_by_thread(const SampleRun& run, const std::string& function) {
  std::map<std::uint32_t, std::size_t> threads;
  for (const std::uint32_t call : run.calls(function)) {
    ++threads[run.measurement->calls.thread[call]];
  }
  std::vector<std::size_t> counts;
  for (const auto& [thread, count] : threads) {
    counts.push_back(count);
  }
  std::ranges::sort(counts, std::greater{});
  return counts;
}

void expect_programs_in_turn(const SampleRun& run) {
  EXPECT_EQ(run.status, 0);
  const std::string thread = run.calls("start_thread").empty() ? "" : "start_thread";
  expect_calls(run, {{"becomes", "between", unwound, false, 2},
                     {"between", "main", unwound, false, 1},
                     {"between", "in_thread", unwound, false, 1},
                     {"in_thread", thread, unwound, false, 1},
                     {"waits", "main", unwound, false, 1},
                     {"counts", "main", complete, false, 3},
                     {"counts", "counts", complete, false, 2 + 4 + 3 + 1},
                     {"counts", "in_thread", complete, false, 1}});
  expect_stepped(run, {"becomes", "between", "waits", "counts"});
  expect_time_adds_up(run);
  EXPECT_EQ(run.measurement->recording.gaps, 0U);
}

TEST_F(ProcessRows, ExecEndsOpenCallsAndTheNewProgramHasItsOwn) {
  for_each_run({.source = "exec.c", .flags = {"-pthread"}, .record = on_one_processor},
               loaded_and_static(), expect_programs_in_turn);
}

// Without cycle packets the interval of the new program's first branch begins before the record of
// exec, and the loader is at another address than in the old program.
TEST_F(ProcessRows, ExecIsNotOverlookedWhereTimeIsCoarse) {
  for_each_run({.source = "exec.c",
                .flags = {"-pthread"},
                .record = on_one_processor,
                .event = "cyc=0,mtc_period=3,psb_period=0,noretcomp=0"},
               {all_variants().front()}, expect_programs_in_turn);
}

TEST_F(ProcessRows, ChildrenOfForkAndVforkHaveTheirOwnCalls) {
  for_each_run(
      {.source = "fork.c", .record = on_one_processor}, loaded_and_static(),
      [](const SampleRun& run) {
        EXPECT_EQ(run.status, 0);
        expect_calls(run, {{"leaf", "splits", complete, false, 1},
                           {"leaf", "outer", complete, false, 2}, // in the child, too
                           {"leaf", "borrows", complete, false, 2},
                           {"leaf", "in_parent", complete, false, 3},
                           {"leaf", "in_child", complete, false, 3 + 2 + 2 + 4},
                           {"in_parent", "splits", complete, false, 1},
                           {"in_parent", "borrows", complete, false, 2},
                           {"in_child", "splits", complete, false, 1},
                           {"in_child", "borrows", complete, false, 2},
                           {"in_child", "main", complete, false, 1}});
        // Once in the parent, which has their time; once where a child goes on in them.
        const CallTable& table = run.measurement->calls;
        for (const char* name : {"splits", "outer", "borrows"}) {
          std::map<CallState, std::size_t> states;
          for (const std::uint32_t call : run.calls(name)) {
            ++states[table.state[call]];
          }
          const std::size_t each = std::string_view(name) == "borrows" ? 2 : 1;
          EXPECT_EQ(states,
                    (std::map<CallState, std::size_t>{{complete, each}, {incomplete, each}}))
              << name;
        }
        expect_stepped(run, {"leaf", "in_child", "in_parent", "splits", "outer", "borrows"});
        expect_time_adds_up(run);
        EXPECT_EQ(run.measurement->threads.size(), 4U);
        EXPECT_EQ(calls_by_thread(run, "leaf"), (std::vector<std::size_t>{7, 6, 4, 2}));
        EXPECT_EQ(calls_by_thread(run, "in_parent"), (std::vector<std::size_t>{3}));
        // The parent waits while vfork's child runs on its stack.
        for (const std::uint32_t call : run.calls("borrows")) {
          if (table.state[call] == complete) {
            EXPECT_GT(table.off_cpu(call), table.latency[call] / 2);
          }
        }
      });
}

// Not linked statically: such a program loads the unwinder by itself, in three million steps.
TEST_F(ProcessRows, CallsThatTheEndOfAThreadCutsShortAreUnwound) {
  for_each_run(
      {.source = "thread_ends.c", .flags = {"-pthread"}, .record = on_one_processor},
      with_libraries(), [](const SampleRun& run) {
        EXPECT_EQ(run.status, 0);
        expect_calls(run, {{"stops", "cleaned", unwound, false, 1},
                           {"waits", "cleaned", unwound, false, 1},
                           {"cleaned", "descends", unwound, false, 2},
                           {"descends", "exits", unwound, false, 1},
                           {"descends", "is_cancelled", unwound, false, 1},
                           {"descends", "descends", unwound, false, 2 + 1},
                           {"leaf", "descends", complete, false, 3 + 2},
                           {"leaf", "returns", complete, false, 1}});
        for (const auto& [name, state] :
             {std::pair{"exits", unwound}, {"is_cancelled", unwound}, {"returns", complete}}) {
          const auto calls = run.calls(name);
          ASSERT_EQ(calls.size(), 1U) << name;
          EXPECT_EQ(run.measurement->calls.state[calls[0]], state) << name;
        }
        EXPECT_EQ(run.calls("cleans").size(), 2U);
        expect_stepped(run, {"stops", "waits", "cleaned", "descends", "leaf", "cleans", "exits",
                             "is_cancelled", "returns"});
        expect_time_adds_up(run);
      });
}

TEST_F(ProcessRows, AnotherLibraryAtTheSameAddressIsAnotherLibrary) {
  const std::string folder = PTLENS_BUILD_DIR "/samples/stacks/reloaded";
  std::filesystem::create_directories(folder);
  std::vector<std::string> libraries;
  for (const char* number : {"1", "2"}) {
    libraries.push_back(fmt::format("{}/lib{}.so", folder, number));
    ASSERT_EQ(test::run_command({"gcc", "-g", "-O2", "-fPIC", "-shared",
                                 fmt::format("-DLIBRARY={}", number), "-o", libraries.back(),
                                 PTLENS_SOURCE_ROOT "/test/samples/stacks/reloads.c"})
                  .status,
              0);
  }
  for_each_run({.source = "reloads.c", .record = on_one_processor, .arguments = libraries},
               with_libraries(), [&](const SampleRun& run) {
                 ASSERT_EQ(run.status, 0) << "2: the libraries were not at the same address";
                 expect_calls(run, {{"calls", "main", complete, false, 3},
                                    {"entry_1", "calls", complete, false, 2},
                                    {"entry_2", "calls", complete, false, 1},
                                    {"leaf_1", "entry_1", complete, false, 3 + 2},
                                    {"leaf_2", "entry_2", complete, false, 5}});
                 expect_stepped(run, {"calls", "entry_1", "entry_2", "leaf_1", "leaf_2"});
                 expect_time_adds_up(run);
                 for (const auto& [name, library] :
                      {std::pair{"leaf_1", libraries[0]}, {"leaf_2", libraries[1]}}) {
                   for (const std::uint32_t call : run.calls(name)) {
                     EXPECT_EQ(
                         run.measurement->functions[run.measurement->calls.function[call]].binary,
                         library);
                   }
                 }
               });
}

} // namespace
} // namespace ptlens::stacks::testing
