// Recordings of small programs with probes. The arithmetic of each program determines the number of
// calls. Requires root, tracefs and perf.
#include "record_test_support.hpp"

#include <algorithm>
#include <csignal>
#include <functional>
#include <sys/wait.h>
#include <thread>

namespace ptlens::record::test {
namespace {

class Live : public ProbeTest {};

const Note* note_of(const Outcome& outcome, std::string_view code) {
  const auto found = std::ranges::find(outcome.manifest.notes, code, &Note::code);
  return found == outcome.manifest.notes.end() ? nullptr : &*found;
}

TEST_F(Live, CountsEveryCallOfAStartedProgram) {
  const ProgramFolder folder;
  const std::string program = folder.compile("program", R"(
    extern "C" __attribute__((noipa)) int leaf(int x) { return x + 1; }
    extern "C" __attribute__((noipa)) int work(int x) {
      int sum = 0;
      for (int i = 0; i < 3; ++i) sum += leaf(x + i);
      return sum;
    }
    int main() { int sum = 0; for (int i = 0; i < 1000; ++i) sum += work(i); return sum & 1; }
  )");
  const auto outcome = record_program(folder, {program}, "work");
  ASSERT_TRUE(outcome) << outcome.error().one_line();
  const auto hits = read_hits(*outcome);
  EXPECT_EQ(count_hits(hits, "work", true), 1000U);
  EXPECT_EQ(count_hits(hits, "work", false), 1000U);
  EXPECT_EQ(count_hits(hits, "leaf", true), 3000U);
  EXPECT_EQ(count_hits(hits, "leaf", false), 3000U);
  EXPECT_EQ(outcome->manifest.binary, std::filesystem::canonical(program).string());
  EXPECT_EQ(note_of(*outcome, "no_calls"), nullptr);
}

TEST_F(Live, FollowsFourThreadsOfAnAttachedProcessUntilItEnds) {
  const ProgramFolder folder;
  const std::string program = folder.compile("program", std::string(wait_for_file) + R"(
    #include <thread>
    #include <vector>
    extern "C" __attribute__((noipa)) int work(int x) { return x + 1; }
    int main(int, char** arguments) {
      wait_for(arguments[1]);
      std::vector<std::thread> threads;
      for (int t = 0; t < 4; ++t)
        threads.emplace_back([] { int x = 0; for (int i = 0; i < 500; ++i) x = work(x); });
      for (auto& thread : threads) thread.join();
    }
  )");
  const std::string flag = folder / "go";
  Running running({program, flag});
  Request request;
  request.budget = 100;
  request.pid = running.pid();
  request.function = "work";
  request.output = folder / "recording";
  const Progress progress(when_recording([&flag] { std::ofstream(flag) << "go"; }));
  const auto outcome = record(request, progress);
  ASSERT_TRUE(outcome) << outcome.error().one_line();
  std::map<std::int32_t, std::size_t> entries;
  std::map<std::int32_t, std::size_t> exits;
  for (const Hit& hit : read_hits(*outcome)) {
    ++(hit.entry ? entries : exits)[hit.tid];
  }
  EXPECT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries, exits);
  for (const auto& [tid, count] : entries) {
    EXPECT_EQ(count, 500U) << "thread " << tid;
  }
}

TEST_F(Live, AProgramThatThrowsThroughTheFunctionContinues) {
  const ProgramFolder folder;
  const std::string program = folder.compile("program", R"(
    #include <stdexcept>
    extern "C" __attribute__((noipa)) void work(int x) {
      if (x % 5 == 0) throw std::runtime_error("every fifth");
    }
    int main() {
      int caught = 0;
      for (int i = 0; i < 100; ++i) try { work(i); } catch (const std::exception&) { ++caught; }
      return caught;
    }
  )");
  const auto outcome = record_program(folder, {program}, "work");
  ASSERT_TRUE(outcome) << outcome.error().one_line();
  const auto hits = read_hits(*outcome);
  EXPECT_EQ(count_hits(hits, "work", true), 100U);
  EXPECT_EQ(count_hits(hits, "work", false), 80U);
  const Note* const failed = note_of(*outcome, "program_failed");
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->arguments, std::vector<std::string>{"20"});
}

TEST_F(Live, SeesEveryActivationOfARecursion) {
  const ProgramFolder folder;
  const std::string program = folder.compile("program", R"(
    extern "C" __attribute__((noipa)) long depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); }
    int main() { for (int i = 0; i < 50; ++i) depth(10); }
  )");
  const auto outcome = record_program(folder, {program}, "depth");
  ASSERT_TRUE(outcome) << outcome.error().one_line();
  const auto hits = read_hits(*outcome);
  EXPECT_EQ(count_hits(hits, "depth", true), 550U);
  EXPECT_EQ(count_hits(hits, "depth", false), 550U);
  // Entry and exit of one activation have the same stack pointer.
  std::vector<std::uint64_t> stack;
  for (const Hit& hit : hits) {
    if (hit.entry) {
      stack.push_back(hit.sp);
    } else {
      ASSERT_FALSE(stack.empty());
      EXPECT_EQ(stack.back(), hit.sp);
      stack.pop_back();
    }
  }
}

TEST_F(Live, AFiveMillisecondSleepIsBetweenSwitches) {
  const ProgramFolder folder;
  const std::string program = folder.compile("program", R"(
    #include <unistd.h>
    extern "C" __attribute__((noipa)) void rest() { usleep(5000); asm volatile(""); }
    int main() { for (int i = 0; i < 20; ++i) rest(); }
  )");
  const auto outcome = record_program(folder, {program}, "rest");
  ASSERT_TRUE(outcome) << outcome.error().one_line();
  const auto recording = perfdata::Recording::open(outcome->directory + "/perf.data");
  ASSERT_TRUE(recording);
  std::uint64_t entered = 0;
  std::size_t calls = 0;
  for (const Hit& hit : read_hits(*outcome)) {
    if (hit.function != "rest") {
      EXPECT_EQ(hit.function, "usleep"); // found in the C library before the program ran
      continue;
    }
    if (hit.entry) {
      entered = hit.time_ns;
      continue;
    }
    ++calls;
    EXPECT_GE(hit.time_ns - entered, 5'000'000U);
    std::size_t blocked = 0;
    for (const perfdata::Switch& change : recording->switches()) {
      blocked +=
          static_cast<std::size_t>(change.tid == hit.tid && change.out && !change.preempted &&
                                   change.time_ns > entered && change.time_ns < hit.time_ns);
    }
    EXPECT_GE(blocked, 1U);
  }
  EXPECT_EQ(calls, 20U);
}

TEST_F(Live, RecordsOnlyTakenConditionalTailCalls) {
  const ProgramFolder folder;
  // Each function jumps to `leaf` where its condition holds for (x, 0), and returns where not.
  const std::string program = folder.compile("program", R"(
    #define FUNCTION(name, jump) \
      asm(".globl " #name "\n.type " #name ",@function\n" #name ": cmpl $0, %edi\n" jump " leaf\n" \
          "movl $7, %eax\nret\n.size " #name ", .-" #name); \
      extern "C" int name(int);
    extern "C" __attribute__((noipa)) int leaf(int x) { return x; }
    FUNCTION(if_equal, "je")
    FUNCTION(if_not_equal, "jne")
    FUNCTION(if_less, "jl")
    FUNCTION(if_greater, "jg")
    FUNCTION(if_below_or_equal, "jbe")
    FUNCTION(if_sign, "js")
    int main(int, char** arguments) {
      int (*const functions[])(int) = {if_equal, if_not_equal, if_less, if_greater,
                                       if_below_or_equal, if_sign};
      for (int x = -30; x <= 60; ++x) functions[arguments[1][0] - '0'](x);
    }
  )");
  // Of -30…60: how many x the condition holds for, from the conditions' meaning.
  const std::map<std::string, std::size_t> taken = {{"if_equal", 1},          {"if_not_equal", 90},
                                                    {"if_less", 30},          {"if_greater", 60},
                                                    {"if_below_or_equal", 1}, {"if_sign", 30}};
  const std::vector<std::string> order = {"if_equal",   "if_not_equal",      "if_less",
                                          "if_greater", "if_below_or_equal", "if_sign"};
  for (std::size_t index = 0; index < order.size(); ++index) {
    const std::string& function = order[index];
    const auto outcome = record_program(folder, {program, std::to_string(index)}, function, "exit");
    ASSERT_TRUE(outcome) << outcome.error().one_line();
    std::size_t jumped = 0;
    std::size_t returned = 0;
    for (const Hit& hit : read_hits(*outcome)) {
      if (hit.function == function && !hit.entry) {
        ++(hit.tail_call ? jumped : returned);
      }
    }
    EXPECT_EQ(jumped, taken.at(function)) << function;
    EXPECT_EQ(jumped + returned, 91U) << function;
    EXPECT_EQ(count_hits(read_hits(*outcome), "leaf", true), taken.at(function)) << function;
    std::filesystem::remove_all(outcome->directory);
  }
}

TEST_F(Live, TheEntryOfAFunctionThatOnlyReturnsComesFirst) {
  const ProgramFolder folder;
  const std::string program = folder.compile("program", R"(
    extern "C" __attribute__((noipa)) void nothing() {}
    int main() { for (int i = 0; i < 100; ++i) nothing(); }
  )",
                                             {"-O1", "-fcf-protection=none"});
  const auto outcome = record_program(folder, {program}, "nothing");
  ASSERT_TRUE(outcome) << outcome.error().one_line();
  const auto hits = read_hits(*outcome);
  ASSERT_EQ(hits.size(), 200U);
  for (std::size_t index = 0; index < hits.size(); ++index) {
    EXPECT_EQ(hits[index].entry, index % 2 == 0) << "hit " << index;
  }
}

TEST_F(Live, MeasuresAFileWithSpacesAndColonsInItsPath) {
  const ProgramFolder folder("ptlens record:ptlens");
  const std::string program = folder.compile("a program", R"(
    extern "C" __attribute__((noipa)) int work(int x) { return x + 1; }
    int main() { int x = 0; for (int i = 0; i < 10; ++i) x = work(x); }
  )");
  const auto outcome = record_program(folder, {program}, "work");
  ASSERT_TRUE(outcome) << outcome.error().one_line();
  EXPECT_EQ(count_hits(read_hits(*outcome), "work", true), 10U);
}

} // namespace
} // namespace ptlens::record::test
