// The ends of recordings with probes: the duration, the end of the target, a cancellation, a killed
// helper, and invalid requests. Requires root, tracefs and perf.
#include "record_test_support.hpp"

#include <csignal>
#include <functional>
#include <sys/wait.h>
#include <thread>

namespace ptlens::record::test {
namespace {

class Ends : public ProbeTest {};

// A process that calls `work` until it is killed.
constexpr std::string_view endless = R"(
  #include <unistd.h>
  extern "C" __attribute__((noipa)) int work(int x) { return x + 1; }
  int main() { for (int x = 0;; usleep(1000)) x = work(x); }
)";

TEST_F(Ends, TheDurationEndsTheRecordingAndNotTheProcess) {
  const ProgramFolder folder;
  Running running({folder.compile("program", endless)});
  Request request;
  request.budget = 100;
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
  EXPECT_NE(again.error().one_line().find("already contains a recording"), std::string::npos);
}

TEST_F(Ends, AKilledTargetLeavesItsRecording) {
  const ProgramFolder folder;
  Running running({folder.compile("program", endless)});
  Request request;
  request.budget = 100;
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

TEST_F(Ends, CancellationRemovesEverything) {
  const ProgramFolder folder;
  const std::string program = folder.compile("program", endless);
  Request request;
  request.budget = 100;
  request.program = {program};
  request.backend = "uprobe";
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

TEST_F(Ends, FinishEndsAProgramThatIgnoresSigterm) {
  const ProgramFolder folder;
  const std::string program = folder.compile("program", R"(
    #include <signal.h>
    #include <unistd.h>
    extern "C" __attribute__((noipa)) int work(int x) { return x + 1; }
    int main() { signal(SIGTERM, SIG_IGN); for (int x = 0;; usleep(1000)) x = work(x); }
  )");
  Request request;
  request.budget = 100;
  request.program = {program};
  request.backend = "uprobe";
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

TEST_F(Ends, ProbesOfAKilledHelperAreRemovedByTheNext) {
  const ProgramFolder folder;
  const std::string program = folder.compile("program", endless);
  Running running({program});
  auto helper = Child::start(
      ChildOptions{.arguments = {PTLENS_BUILD_DIR "/ptlens", "record", "--backend", "uprobe",
                                 "--budget", "100", "--pid", std::to_string(running.pid()),
                                 "--function", "work", "-o", folder / "recording"}});
  ASSERT_TRUE(helper) << helper.error().one_line();
  const std::int32_t maker = helper->pid();
  const auto measures = [&] {
    return std::filesystem::exists(folder / "recording/perf.data") && probes_left(maker) >= 2;
  };
  for (int wait = 0; wait < 3000 && !measures() && !helper->ended(); ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(measures()) << helper->output();
  helper->signal(SIGKILL);
  ASSERT_TRUE(helper->wait(std::chrono::minutes(1)));
  const auto removed = remove_stale_probes();
  ASSERT_TRUE(removed) << removed.error().one_line();
  EXPECT_GE(*removed, 2U); // entry and return
  EXPECT_EQ(probes_left(maker), 0U);
  EXPECT_TRUE(running.alive());
}

TEST_F(Ends, ReportsTheMistakeInARequest) {
  const ProgramFolder folder;
  const std::string program = folder.compile("program", endless);
  const auto failure = [&](const std::function<void(Request&)>& change) {
    Request request;
    request.budget = 100;
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

TEST_F(Ends, AnOrdinaryUserGetsARemedy) {
  const ProgramFolder folder;
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
    request.budget = 100;
    request.program = {program};
    request.backend = "uprobe"; // uftrace needs no rights
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

TEST_F(Ends, AReplacedBinaryIsMeasuredAndKept) {
  const ProgramFolder folder;
  const std::string program = folder.compile("program", endless);
  const auto measured = read_text(program, std::size_t{1} << 26U);
  Running running({program});
  std::filesystem::remove(program);
  ASSERT_EQ(folder.compile("program", "int main() { return 0; }"), program);
  Request request;
  request.budget = 100;
  request.pid = running.pid();
  request.function = "work";
  request.backend = "uprobe";
  request.duration_s = 0.2;
  request.output = folder / "recording";
  const Progress progress;
  const auto outcome = record(request, progress);
  ASSERT_TRUE(outcome) << outcome.error().one_line();
  EXPECT_GT(outcome->summary.hits, 0U);
  EXPECT_EQ(outcome->manifest.private_files, std::vector<std::string>{program});
  EXPECT_TRUE(read_text(folder / ("recording" + program), std::size_t{1} << 26U) == measured);
}

} // namespace
} // namespace ptlens::record::test
