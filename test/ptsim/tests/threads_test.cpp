// Programs of several threads and processes, interleaved on simulated processors: perf's decode,
// its switch records and the programs' own arithmetic against the truth.
#include "harness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

namespace ptlens::ptsim::testing {
namespace {

// Three workers: 12 × locked each, a nap of 300 µs after each fourth. Two players hand a ball over
// 10 times each. A receiver takes 5 bytes from a pipe that main sends.
constexpr const char* threads_program = R"(
#include <condition_variable>
#include <mutex>
#include <thread>
#include <time.h>
#include <unistd.h>
#define OWN extern "C" __attribute__((noipa))
std::mutex lock, field; std::condition_variable passed; int ball = 0; volatile int work = 0;
int channel[2];
OWN int deeper(int n) {
  if (n == 0) return work;
  const int below = deeper(n - 1);
  work = work + 1;
  return below;
}
OWN void locked(int i) { std::lock_guard<std::mutex> guard(lock); work = work + deeper(i % 3); }
OWN void nap() { timespec time{0, 300000}; nanosleep(&time, nullptr); work = work + 1; }
OWN void worker() { for (int i = 0; i < 12; ++i) { locked(i); if (i % 4 == 3) nap(); } }
OWN void pass_on(int side) {
  std::unique_lock<std::mutex> hold(field);
  while (ball % 2 != side) passed.wait(hold);
  ++ball;
  passed.notify_one();
}
OWN void player(int side) { for (int i = 0; i < 10; ++i) pass_on(side); }
OWN char receive() { char byte = 0; return read(channel[0], &byte, 1) == 1 ? byte : 0; }
OWN void receiver() { int sum = 0; for (int i = 0; i < 5; ++i) sum += receive(); work = work + sum; }
OWN bool send_one() { return write(channel[1], "x", 1) == 1; }
int main(int count, char**) {
  char go = 0;
  if (count > 1 && read(0, &go, 1) != 1) return 4;
  if (pipe(channel) != 0) return 1;
  std::thread threads[] = {std::thread(worker), std::thread(worker), std::thread(worker),
                           std::thread(player, 0), std::thread(player, 1), std::thread(receiver)};
  for (int i = 0; i < 5; ++i) if (!send_one()) return 2;
  for (std::thread& thread : threads) thread.join();
  return ball == 20 ? 0 : 3;
}
)";

class Threads : public ::testing::Test {
protected:
  void SetUp() override {
    static const std::string why_not = why_no_recordings();
    if (!why_not.empty()) {
      GTEST_SKIP() << why_not;
    }
  }

  static void expect_counts(const Recording& recording) {
    const std::map<std::string, std::size_t> expected{
        {"locked", 36}, {"nap", 9},      {"deeper", 3 * 4 * (1 + 2 + 3)},
        {"worker", 3},  {"player", 2},   {"pass_on", 20},
        {"receive", 5}, {"send_one", 5}, {"receiver", 1}};
    for (const auto& [name, count] : expected) {
      EXPECT_EQ(recording.count(name, "complete"), count) << name;
    }
  }

  // Records the process until it ends; it waits for a byte first.
  Recording attach(Background& target, const std::vector<std::string>& options) {
    Recording recording{folder_ / "perf.data", {}};
    std::vector<std::string> command{PTSIM,          "record",     "-e",
                                     cycle_accurate, "--branches", "-o",
                                     recording.file, "-p",         std::to_string(target.pid())};
    command.insert(command.end(), options.begin(), options.end());
    target.await_sleep();
    Background recorder;
    recorder.start(command);
    const std::string tracer = std::to_string(recorder.pid());
    while (recorder.lives() && target.status_field("TracerPid").find(tracer) == std::string::npos) {
      usleep(10'000);
    }
    recorder.await_sleep(); // it has stopped the target, and waits for it
    target.say("x");
    EXPECT_EQ(recorder.wait(), 0);
    return recording;
  }

  TemporaryFolder folder_;
};

TEST_F(Threads, EachOnesBranchesSwitchesAndCallsAreRight) {
  compile(threads_program, folder_ / "threads", "-pthread");
  const Recording recording =
      record(folder_ / "perf.data", cycle_accurate, {"--start-at", "main", "--slice", "4000"},
             {folder_ / "threads"});
  ASSERT_EQ(recording.made.status, 0) << recording.made.err;
  expect_branches_equal(recording);
  expect_off_cpu_equal(recording);
  expect_counts(recording);

  std::map<int, std::set<int>> processors;
  for (const BranchEvent& event : recording.stepped()) {
    processors[event.tid].insert(event.cpu);
  }
  EXPECT_EQ(processors.size(), 7U);
  EXPECT_TRUE(std::ranges::any_of(processors, [](const auto& thread) {
    return thread.second.size() == 2; // it migrated
  }));
  const auto switches = recording.switches();
  EXPECT_TRUE(std::ranges::any_of(switches, &SwitchEvent::preempted));
  EXPECT_TRUE(std::ranges::any_of(
      switches, [](const SwitchEvent& event) { return event.out && !event.preempted; }));
  for (const TruthCall& call : recording.truth()) {
    if (call.symbol == "nap") {
      EXPECT_GE(call.off_cpu, 300'000U);
    }
  }
}

TEST_F(Threads, OneProcessorOrManyAndOtherSeeds) {
  compile(threads_program, folder_ / "threads", "-pthread");
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--cpus", "1", "--seed", "2", "--unprivileged"},
        {"--cpus", "5", "--seed", "3", "-m", ",2"}}) {
    std::vector<std::string> all{"--start-at", "main"};
    all.insert(all.end(), options.begin(), options.end());
    const Recording recording = record(folder_ / "perf.data", "intel_pt/mtc_period=3,noretcomp=1/u",
                                       all, {folder_ / "threads"});
    ASSERT_EQ(recording.made.status, 0) << recording.made.err;
    expect_branches_equal(recording);
    expect_off_cpu_equal(recording);
    expect_counts(recording);
  }
}

TEST_F(Threads, ChildrenByForkAndVforkAreTracedToo) {
  compile(R"(
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#define OWN extern "C" __attribute__((noipa))
OWN int child(int n) { return n + 5; }
int main(int, char** arguments) {
  if (arguments[1] != nullptr) return child(1);
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    const pid_t pid = fork();
    if (pid == 0) _exit(child(i));
    int status = 0;
    if (waitpid(pid, &status, 0) != pid) return 1;
    sum += WEXITSTATUS(status);
  }
  char name[] = "/proc/self/exe", again[] = "again";
  char* words[] = {name, again, nullptr};
  pid_t pid = 0;
  int status = 0;
  if (posix_spawn(&pid, name, nullptr, nullptr, words, environ) != 0) return 2;
  if (waitpid(pid, &status, 0) != pid) return 3;
  return sum + WEXITSTATUS(status);
}
)",
          folder_ / "children", "-static");
  const Recording recording =
      record(folder_ / "perf.data", cycle_accurate, {"--start-at", "main"}, {folder_ / "children"});
  EXPECT_EQ(recording.made.status, 5 + 6 + 7 + 6) << recording.made.err;
  expect_branches_equal(recording);
  expect_off_cpu_equal(recording);
  EXPECT_EQ(recording.count("child", "complete"), 4U);
  std::set<int> tids;
  for (const TruthCall& call : recording.truth()) {
    tids.insert(call.tid);
  }
  EXPECT_EQ(tids.size(), 5U);
}

// The second thread replaces the program: the first one ends, and its id goes to the second.
TEST_F(Threads, ExecveByAnotherThanTheMainThread) {
  compile("extern \"C\" __attribute__((noipa)) int after(int n) { return n * 7; }\n"
          "int main(int count, char**) { return after(count); }",
          folder_ / "after", "-static");
  compile(R"(
#include <thread>
#include <unistd.h>
extern "C" __attribute__((noipa)) void replace(char** words) { execv(words[0], words); }
int main(int, char** arguments) {
  std::thread idle([] { for (;;) pause(); });
  std::thread(replace, arguments + 1).join();
  return 99;
}
)",
          folder_ / "before", "-pthread");
  const Recording recording = record(folder_ / "perf.data", cycle_accurate, {"--start-at", "main"},
                                     {folder_ / "before", folder_ / "after", "x"});
  EXPECT_EQ(recording.made.status, 14) << recording.made.err;
  expect_branches_equal(recording);
  EXPECT_EQ(recording.count("after", "complete"), 1U);
  EXPECT_EQ(recording.count("replace", "unwound"), 1U);
}

TEST_F(Threads, SignalsWakeAThreadThatWaits) {
  compile(R"(
#include <atomic>
#include <csignal>
#include <pthread.h>
#include <unistd.h>
#define OWN extern "C" __attribute__((noipa))
std::atomic<int> seen{0};
OWN void on_signal(int) { seen = seen + 1; }
OWN void waiter() { pause(); pause(); }
OWN void wake(pthread_t thread, int count) {
  pthread_kill(thread, SIGUSR1);
  while (seen < count) usleep(100);
}
int main() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  sigaction(SIGUSR1, &action, nullptr);
  pthread_t thread;
  pthread_create(&thread, nullptr, [](void*) -> void* { waiter(); return nullptr; }, nullptr);
  usleep(1000);
  wake(thread, 1);
  usleep(1000);
  wake(thread, 2);
  pthread_join(thread, nullptr);
  return seen;
}
)",
          folder_ / "signals", "-pthread");
  const Recording recording =
      record(folder_ / "perf.data", cycle_accurate, {"--start-at", "main"}, {folder_ / "signals"});
  EXPECT_EQ(recording.made.status, 2) << recording.made.err;
  expect_branches_equal(recording);
  expect_off_cpu_equal(recording);
  EXPECT_EQ(recording.count("on_signal", "complete"), 2U);
  EXPECT_EQ(recording.count("waiter", "complete"), 1U);
}

TEST_F(Threads, ProcessesMayDieWithThreadsUnderWay) {
  compile(R"(
#include <csignal>
#include <thread>
#include <unistd.h>
volatile long spins = 0;
extern "C" __attribute__((noipa)) void spin() { spins = spins + 1; }
int main() {
  std::thread([] { for (;;) spin(); }).detach();
  std::thread([] { for (;;) pause(); }).detach();
  usleep(20);
  raise(SIGKILL);
}
)",
          folder_ / "dies", "-pthread");
  const Recording recording =
      record(folder_ / "perf.data", cycle_accurate, {"--start-at", "main"}, {folder_ / "dies"});
  EXPECT_EQ(recording.made.status, 0) << recording.made.err; // as perf: not the signal
  expect_branches_equal(recording);
  expect_off_cpu_equal(recording);
}

// Attached to while it waits for a byte: it makes its threads while it is traced.
TEST_F(Threads, ARunningProcessIsTracedWithItsNewThreads) {
  compile(threads_program, folder_ / "threads", "-pthread");
  Background target;
  target.start({folder_ / "threads", "wait"}, true);
  const Recording recording = attach(target, {"--seed", "7"});
  EXPECT_EQ(WEXITSTATUS(target.wait()), 0);
  expect_branches_equal(recording);
  expect_off_cpu_equal(recording);
  expect_counts(recording);
}

TEST_F(Threads, TheOrderServerWhole) {
  compile_file(PTSIM_SAMPLES "/../../extension/sample/order_server.cpp", folder_ / "order_server",
               "-pthread");
  Background target;
  target.start(
      {folder_ / "order_server", "--orders", "4", "--threads", "2", "--rate", "0", "--wait"}, true);
  const Recording recording = attach(target, {});
  EXPECT_EQ(WEXITSTATUS(target.wait()), 0);
  expect_branches_equal(recording);
  expect_off_cpu_equal(recording);
  std::map<std::string, std::size_t> complete;
  for (const TruthCall& call : recording.truth()) {
    complete[call.symbol.substr(0, call.symbol.find("RK"))] += call.state == "complete" ? 1 : 0;
  }
  EXPECT_EQ(complete["_ZN4shop12handle_orderE"], 8U);
  EXPECT_EQ(complete["_ZN4shop11price_orderE"], 8U);
  EXPECT_EQ(complete["_ZN4shop13reserve_stockE"], 8U);
  EXPECT_EQ(complete["_ZN4shop7add_taxEm"], 8U);
  EXPECT_EQ(complete["_ZN4shop17category_discountE"], 2U * (2 + 3 + 4 + 1));
}

TEST_F(Threads, OneThreadAloneWhileTheOthersRunFree) {
  compile(R"(
#include <thread>
#include <unistd.h>
extern "C" __attribute__((noipa)) int tick(int n) { usleep(500); return n + 1; }
void beat() { volatile int n = 0; for (;;) n = tick(n); }
int main() { std::thread(beat).detach(); beat(); }
)",
          folder_ / "ticking", "-pthread");
  for (const bool per_thread : {true, false}) {
    Background target;
    target.start({folder_ / "ticking"});
    target.await_sleep();
    std::vector<pid_t> threads;
    while (threads.size() < 2) {
      threads = target.threads();
    }
    const std::string second = std::to_string(threads[1]);
    std::vector<std::string> command{
        PTSIM,         "record", "-e", cycle_accurate, "--branches", "--switch-events",
        "--max-steps", "1500",   "-t", second,         "-o",         folder_ / "perf.data"};
    if (per_thread) {
      command.emplace_back("--per-thread");
    }
    const Recording recording{folder_ / "perf.data", run(command)};
    ASSERT_EQ(recording.made.status, 0) << recording.made.err;
    EXPECT_TRUE(target.lives());
    expect_branches_equal(recording);
    expect_off_cpu_equal(recording);
    EXPECT_GT(recording.count("tick", "complete"), 5U);
    for (const TruthCall& call : recording.truth()) {
      EXPECT_EQ(call.tid, threads[1]);
    }
  }
}

TEST_F(Threads, BuffersOfThreadsFollowThoseThatThereWere) {
  compile(threads_program, folder_ / "threads", "-pthread");
  const Recording recording =
      record(folder_ / "perf.data", cycle_accurate,
             {"--per-thread", "--switch-events", "--start-at", "main"}, {folder_ / "threads"});
  ASSERT_EQ(recording.made.status, 0) << recording.made.err;
  expect_branches_equal(recording);
  expect_off_cpu_equal(recording);
  EXPECT_EQ(recording.count("send_one", "complete"), 5U);
  EXPECT_EQ(recording.count("worker", "complete"), 0U); // made later: runs free
  EXPECT_NE(recording.made.err.find("runs untraced"), std::string::npos);
}

} // namespace
} // namespace ptlens::ptsim::testing
