// Real recordings by probes of small programs, whose own arithmetic says how often each function is
// called. Needs root, tracefs and perf.
#include "record_test_support.hpp"

#include <csignal>
#include <functional>
#include <sys/wait.h>
#include <thread>

namespace ptlens::record::test {
namespace {

class Live : public ::testing::Test {
protected:
  void SetUp() override {
    const std::string why = why_no_probes();
    if (!why.empty()) {
      GTEST_SKIP() << why;
    }
  }
  void TearDown() override { EXPECT_EQ(probes_left(), 0U); }

  static Result<Outcome> record_program(const TemporaryFolder& folder,
                                        std::vector<std::string> program,
                                        const std::string& function) {
    Request request;
    request.program = std::move(program);
    request.function = function;
    request.backend = "uprobe";
    request.output = folder / "recording";
    const Progress progress;
    return record(request, progress);
  }
};

bool noted(const Outcome& outcome, std::string_view words) {
  for (const std::string& note : outcome.manifest.notes) {
    if (note.find(words) != std::string::npos) {
      return true;
    }
  }
  return false;
}

TEST_F(Live, CountsEveryCallOfAStartedProgram) {
  const TemporaryFolder folder;
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
  EXPECT_FALSE(noted(*outcome, "no call of"));
}

TEST_F(Live, FollowsFourThreadsOfAnAttachedProcessUntilItEnds) {
  const TemporaryFolder folder;
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

TEST_F(Live, AProgramThatThrowsThroughTheFunctionGoesOn) {
  const TemporaryFolder folder;
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
  EXPECT_TRUE(noted(*outcome, "the program ended with status 20"));
}

TEST_F(Live, SeesEveryActivationOfARecursion) {
  const TemporaryFolder folder;
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

TEST_F(Live, AFiveMillisecondSleepLiesBetweenSwitches) {
  const TemporaryFolder folder;
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

TEST_F(Live, TellsTakenConditionalTailCallsFromThoseNotTaken) {
  const TemporaryFolder folder;
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
    const auto outcome = record_program(folder, {program, std::to_string(index)}, function);
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

TEST_F(Live, OfAFunctionThatOnlyReturnsTheEntryComesFirst) {
  const TemporaryFolder folder;
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
  const TemporaryFolder folder("ptlens record:ptlens");
  const std::string program = folder.compile("a program", R"(
    extern "C" __attribute__((noipa)) int work(int x) { return x + 1; }
    int main() { int x = 0; for (int i = 0; i < 10; ++i) x = work(x); }
  )");
  const auto outcome = record_program(folder, {program}, "work");
  ASSERT_TRUE(outcome) << outcome.error().one_line();
  EXPECT_EQ(count_hits(read_hits(*outcome), "work", true), 10U);
}

// A process that calls `work` until it is killed.
constexpr std::string_view endless = R"(
  #include <unistd.h>
  extern "C" __attribute__((noipa)) int work(int x) { return x + 1; }
  int main() { for (int x = 0;; usleep(1000)) x = work(x); }
)";

TEST_F(Live, TheDurationEndsTheRecordingAndNotTheProcess) {
  const TemporaryFolder folder;
  Running running({folder.compile("program", endless)});
  Request request;
  request.pid = running.pid();
  request.function = "work";
  request.duration_s = 0.3;
  request.output = folder / "recording";
  const Progress progress;
  const auto outcome = record(request, progress);
  ASSERT_TRUE(outcome) << outcome.error().one_line();
  EXPECT_TRUE(running.alive());
  const auto hits = read_hits(*outcome);
  EXPECT_GT(count_hits(hits, "work", true), 0U);
  ASSERT_FALSE(hits.empty());
  EXPECT_GT(outcome->bytes, 0U);
  const auto again = record(request, progress);
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().one_line().find("holds a recording already"), std::string::npos);
}

TEST_F(Live, AKilledTargetLeavesItsRecording) {
  const TemporaryFolder folder;
  Running running({folder.compile("program", endless)});
  Request request;
  request.pid = running.pid();
  request.function = "work";
  request.output = folder / "recording";
  const Progress progress([&running](const ProgressReport& report) {
    if (report.done >= 200) {
      running.signal(SIGKILL);
    }
  });
  const auto outcome = record(request, progress);
  ASSERT_TRUE(outcome) << outcome.error().one_line();
  EXPECT_GT(count_hits(read_hits(*outcome), "work", true), 0U);
}

TEST_F(Live, CancelTakesEverythingAway) {
  const TemporaryFolder folder;
  const std::string program = folder.compile("program", endless);
  Request request;
  request.program = {program};
  request.function = "work";
  request.output = folder / "recording";
  Progress* cancelled = nullptr;
  Progress progress(when_recording([&cancelled] { cancelled->cancel(); }));
  cancelled = &progress;
  const auto outcome = record(request, progress);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, Error::Kind::cancelled);
  EXPECT_FALSE(std::filesystem::exists(folder / "recording"));
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    EXPECT_NE(link_target(entry.path().string() + "/exe"), program) << entry.path();
  }
}

TEST_F(Live, FinishEndsAProgramThatIgnoresSigterm) {
  const TemporaryFolder folder;
  const std::string program = folder.compile("program", R"(
    #include <signal.h>
    #include <unistd.h>
    extern "C" __attribute__((noipa)) int work(int x) { return x + 1; }
    int main() { signal(SIGTERM, SIG_IGN); for (int x = 0;; usleep(1000)) x = work(x); }
  )");
  Request request;
  request.program = {program};
  request.function = "work";
  request.output = folder / "recording";
  Progress* finished = nullptr;
  Progress progress([&finished](const ProgressReport& report) {
    if (report.done >= 100) {
      finished->finish();
    }
  });
  finished = &progress;
  const auto outcome = record(request, progress);
  ASSERT_TRUE(outcome) << outcome.error().one_line();
  EXPECT_GT(count_hits(read_hits(*outcome), "work", true), 0U);
}

TEST_F(Live, ProbesOfAKilledHelperAreRemovedByTheNext) {
  const TemporaryFolder folder;
  const std::string program = folder.compile("program", endless);
  Running running({program});
  const std::string begun = folder / "begun";
  const pid_t helper = ::fork();
  ASSERT_GE(helper, 0);
  if (helper == 0) {
    Request request;
    request.pid = running.pid();
    request.function = "work";
    request.output = folder / "recording";
    const Progress progress(when_recording([&begun] { std::ofstream(begun) << "begun"; }));
    static_cast<void>(record(request, progress));
    ::_exit(0);
  }
  for (int wait = 0; wait < 3000 && !std::filesystem::exists(begun); ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ASSERT_TRUE(std::filesystem::exists(begun));
  EXPECT_GT(probes_left(helper), 0U);
  ::kill(helper, SIGKILL);
  ASSERT_EQ(::waitpid(helper, nullptr, 0), helper);
  const auto removed = remove_stale_probes();
  ASSERT_TRUE(removed) << removed.error().one_line();
  EXPECT_GE(*removed, 2U); // entry and return
  EXPECT_EQ(probes_left(helper), 0U);
  EXPECT_TRUE(running.alive());
}

TEST_F(Live, SaysWhatIsWrongWithTheRequest) {
  const TemporaryFolder folder;
  const std::string program = folder.compile("program", endless);
  const auto failure = [&](const std::function<void(Request&)>& change) {
    Request request;
    request.program = {program};
    request.function = "work";
    request.backend = "uprobe";
    request.output = folder / "recording";
    change(request);
    const Progress progress;
    const auto outcome = record(request, progress);
    EXPECT_FALSE(outcome);
    EXPECT_FALSE(std::filesystem::exists(folder / "recording"));
    return outcome ? Error{} : outcome.error();
  };

  const Error unknown = failure([](Request& request) { request.function = "wrok"; });
  EXPECT_EQ(unknown.kind, Error::Kind::not_found);
  EXPECT_NE(unknown.remedy.find("work"), std::string::npos) << unknown.one_line();

  const Error nothing = failure([](Request& request) { request.function.clear(); });
  EXPECT_EQ(nothing.kind, Error::Kind::bad_input);
  EXPECT_NE(nothing.remedy.find("--function"), std::string::npos);

  const Error missing = failure([](Request& request) { request.program = {"/no/such/program"}; });
  EXPECT_EQ(missing.kind, Error::Kind::not_found);

  Running short_lived({program});
  const std::int32_t pid = short_lived.pid();
  const Error other = failure([pid](Request& request) {
    request.program.clear();
    request.pid = pid;
    request.start_time = 1;
  });
  EXPECT_EQ(other.kind, Error::Kind::gone);
  short_lived.signal(SIGKILL);
  EXPECT_TRUE(short_lived.wait());
  const Error gone = failure([pid](Request& request) {
    request.program.clear();
    request.pid = pid;
  });
  EXPECT_EQ(gone.kind, Error::Kind::gone);
}

TEST_F(Live, AnOrdinaryUserIsToldWhatToDo) {
  const TemporaryFolder folder;
  const std::string program = folder.compile("program", endless);
  std::filesystem::permissions(folder / "", std::filesystem::perms::all);
  const std::string report = folder / "error";
  const pid_t user = ::fork();
  ASSERT_GE(user, 0);
  if (user == 0) {
    constexpr unsigned nobody = 65534;
    if (::setgid(nobody) != 0 || ::setuid(nobody) != 0) {
      ::_exit(1);
    }
    Request request;
    request.program = {program};
    request.function = "work";
    request.output = folder / "recording";
    const Progress progress;
    const auto outcome = record(request, progress);
    std::ofstream(report) << (outcome ? "no error" : outcome.error().one_line());
    ::_exit(!outcome && outcome.error().kind == Error::Kind::no_rights ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(user, &status, 0), user);
  EXPECT_EQ(status, 0) << read_text(report).value_or("");
  EXPECT_NE(read_text(report).value_or("").find("sudo"), std::string::npos);
}

TEST_F(Live, AReplacedBinaryIsRefused) {
  const TemporaryFolder folder;
  const std::string program = folder.compile("program", endless);
  Running running({program});
  std::filesystem::remove(program);
  ASSERT_EQ(folder.compile("program", endless), program);
  Request request;
  request.pid = running.pid();
  request.function = "work";
  request.output = folder / "recording";
  const Progress progress;
  const auto outcome = record(request, progress);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().one_line().find("restart the process"), std::string::npos)
      << outcome.error().one_line();
}

} // namespace
} // namespace ptlens::record::test
