// Children, processes and the doctor on the machine at hand.
#include "record/machine/doctor.hpp"
#include "record/perf/intel_pt_backend.hpp"
#include "record/processes/perf_control.hpp"
#include "record/processes/processes.hpp"
#include "record_test_support.hpp"

#include <algorithm>
#include <csignal>
#include <sys/wait.h>
#include <thread>

namespace ptlens::record::test {
namespace {

using std::chrono::seconds;

TEST(Child, GetsItsArgumentsEnvironmentAndFolder) {
  const TemporaryFolder folder;
  auto child = Child::start(ChildOptions{
      .arguments = {"/bin/sh", "-c", "printf '%s|%s|%s' \"$1\" \"$PTLENS_TEST\" \"$PWD\"", "sh",
                    "a b;$(c)"},
      .working_directory = folder / "",
      .environment = {"PTLENS_TEST=value"}});
  ASSERT_TRUE(child) << child.error().one_line();
  const auto status = child->wait(seconds(30));
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, 0);
  const std::string path = std::filesystem::canonical(folder / "").string();
  EXPECT_TRUE(child->output().starts_with("a b;$(c)|value|" + path)) << child->output();
}

TEST(Child, SaysWhyItCannotStart) {
  const auto missing = Child::start(ChildOptions{.arguments = {"/no/such/program"}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, Error::Kind::not_found);
  const auto folder = Child::start(ChildOptions{.arguments = {"/tmp"}});
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().kind, Error::Kind::no_rights);
}

TEST(Child, KeepsBoundedOutputWithItsLastLine) {
  auto child = Child::start(ChildOptions{
      .arguments = {"/bin/sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x; echo; echo last"}});
  ASSERT_TRUE(child);
  ASSERT_TRUE(child->wait(seconds(30)));
  EXPECT_LE(child->output().size(), 65536U);
  EXPECT_EQ(child->last_line(), "last");
}

TEST(Child, DiesWithItsWholeGroup) {
  const TemporaryFolder folder;
  std::int32_t grandchild = 0;
  {
    auto child =
        Child::start(ChildOptions{.arguments = {"/bin/sh", "-c", "sleep 1000 & echo $!; wait"}});
    ASSERT_TRUE(child);
    while (child->last_line().empty()) {
      child->read_output();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    grandchild = std::stoi(child->last_line());
    ASSERT_TRUE(process_stat(grandchild));
  }
  const auto gone = [grandchild] {
    const auto stat = process_stat(grandchild);
    return !stat || stat->state == 'Z';
  };
  for (int wait = 0; wait < 1000 && !gone(); ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(gone());
}

TEST(PerfControl, TellsAnswersFromTheEnd) {
  auto control = PerfControl::make();
  ASSERT_TRUE(control);
  const auto [command, answer] = control->child_ends();
  EXPECT_EQ(control->answer(), PerfControl::Answer::none);
  EXPECT_TRUE(control->send("stop"));
  std::array<char, 16> text{};
  EXPECT_EQ(::read(command, text.data(), text.size()), 5);
  EXPECT_EQ(std::string_view(text.data(), 5), "stop\n");
  EXPECT_EQ(::write(answer, "ack\n\0", 5), 5); // perf sends the zero as well
  EXPECT_EQ(control->answer(), PerfControl::Answer::acknowledged);
  control->close_child_ends();
  EXPECT_EQ(control->answer(), PerfControl::Answer::closed);
  EXPECT_FALSE(control->send("stop"));
}

TEST(Processes, FindsTheOneMadeFromASource) {
  const TemporaryFolder folder;
  const std::string program =
      folder.compile("made_from", "#include <unistd.h>\nint main() { pause(); }\n");
  const Running running({program, "an argument"});
  const auto list = processes(folder / "made_from.cpp");
  const auto found = std::ranges::find(list, running.pid(), &Process::pid);
  ASSERT_NE(found, list.end());
  EXPECT_TRUE(found->has_source);
  EXPECT_TRUE(found->may_attach);
  EXPECT_EQ(found->name, "made_from");
  EXPECT_EQ(found->command, program + " an argument");
  EXPECT_EQ(found->executable, program);
  EXPECT_EQ(found->start_time, process_stat(running.pid())->start_time);
  EXPECT_GE(found->age_s, 0);
  EXPECT_TRUE(std::ranges::is_partitioned(list, &Process::has_source));
  const auto binaries = mapped_binaries(running.pid());
  ASSERT_TRUE(binaries);
  EXPECT_EQ(binaries->front(), program);
  EXPECT_TRUE(std::ranges::any_of(
      *binaries, [](const std::string& path) { return path.find("libc") != std::string::npos; }));

  const auto plain = processes("");
  EXPECT_TRUE(std::ranges::none_of(plain, &Process::has_source));
  EXPECT_TRUE(std::ranges::is_sorted(plain, std::greater(), &Process::start_time));
}

TEST(Processes, AProcessThatHasGoneIsAnError) {
  Running running({"/bin/true"});
  const std::int32_t pid = running.pid();
  ASSERT_TRUE(running.wait());
  const auto binaries = mapped_binaries(pid);
  ASSERT_FALSE(binaries);
  EXPECT_EQ(binaries.error().kind, Error::Kind::gone);
}

TEST(Doctor, FindsWhatTheMachineHas) {
  const TemporaryFolder folder;
  const std::string program = folder.compile("program", "int main() {}\n");
  const Diagnosis diagnosis = diagnose({.binary = program});
  for (const Finding& finding : diagnosis.findings) {
    EXPECT_FALSE(finding.title.empty()) << finding.id;
    EXPECT_FALSE(finding.detail.empty()) << finding.id;
    EXPECT_EQ(finding.remedy.empty(), finding.state == Finding::State::fine) << finding.id;
  }
  const auto state = [&diagnosis](std::string_view id) {
    return std::ranges::find(diagnosis.findings, id, &Finding::id)->state;
  };
  EXPECT_EQ(state("intel_pt") == Finding::State::missing,
            !std::filesystem::exists("/sys/bus/event_source/devices/intel_pt"));
  EXPECT_EQ(state("perf") == Finding::State::fine, !find_program("perf").empty());
  EXPECT_EQ(state("debug_info"), Finding::State::fine);
  if (why_no_probes().empty()) {
    EXPECT_NE(diagnosis.backend, "none");
  }
  const Diagnosis without = diagnose({.perf = "/no/such/perf"});
  EXPECT_EQ(without.backend, "none");
}

TEST(Vdso, IsAnElfFileWithTheClock) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_vdso(folder / ""));
  const auto binary = symbols::Binary::open(folder / vdso_name);
  ASSERT_TRUE(binary) << binary.error().one_line();
  EXPECT_FALSE((*binary)->find("__vdso_clock_gettime").empty());
}

TEST(IntelPt, WithoutTheDeviceIsRefusedUnlessAStandInIsNamed) {
  if (read_machine("").intel_pt) {
    GTEST_SKIP() << "this machine has Intel PT";
  }
  const TemporaryFolder folder;
  Request request;
  request.program = {"/bin/true"};
  request.backend = "intel_pt";
  request.output = folder / "recording";
  const Progress progress;
  const auto refused = record(request, progress);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind,
            find_program("perf").empty() ? Error::Kind::not_found : Error::Kind::unsupported);
  EXPECT_FALSE(std::filesystem::exists(folder / "recording"));
}

TEST(IntelPt, AStandInForPerfMakesARecording) {
  const std::string stand_in = std::string(PTLENS_BUILD_DIR) + "/ptsim/ptsim";
  if (find_program(stand_in).empty()) {
    GTEST_SKIP() << "ptsim is not built";
  }
  const TemporaryFolder folder;
  const std::string program = folder.compile("program", R"(
    extern "C" __attribute__((noipa)) int work(int x) { return x + 1; }
    int main() { int x = 0; for (int i = 0; i < 10; ++i) x = work(x); }
  )");
  Request request;
  request.program = {program};
  request.function = "work";
  request.backend = "intel_pt";
  request.perf = stand_in;
  request.output = folder / "recording";
  const Progress progress;
  const auto outcome = record(request, progress);
  ASSERT_TRUE(outcome) << outcome.error().one_line();
  const auto recording = perfdata::Recording::open(outcome->directory + "/perf.data");
  ASSERT_TRUE(recording) << recording.error().one_line();
  EXPECT_TRUE(recording->intel_pt());
  EXPECT_GT(recording->trace_bytes(), 0U);
  EXPECT_TRUE(std::filesystem::exists(outcome->directory + "/vdso.so"));
  EXPECT_EQ(read_manifest(outcome->directory).value().backend, "intel_pt");
}

// perf then makes a folder of its data file.
TEST(IntelPt, OfAKernelItsCodeIsKept) {
  const std::string stand_in = std::string(PTLENS_BUILD_DIR) + "/ptsim/ptsim";
  if (find_program(stand_in).empty()) {
    GTEST_SKIP() << "ptsim is not built";
  }
  const TemporaryFolder folder;
  Request request;
  request.program = {folder.compile("program", "int main() { return 0; }")};
  request.backend = "intel_pt";
  request.kernel = true;
  request.perf = stand_in;
  request.output = folder / "recording";
  const Progress progress;
  const auto outcome = record(request, progress);
  ASSERT_TRUE(outcome) << outcome.error().one_line();
  EXPECT_EQ(std::ranges::count(outcome->manifest.perf_command, "--kcore"), 1);
  const std::filesystem::path data = folder / "recording/perf.data";
  EXPECT_EQ(outcome->bytes, std::filesystem::file_size(data / "data"));
  EXPECT_GT(std::filesystem::file_size(data / "kcore_dir/kcore"), 0U);
  const auto recording = perfdata::Recording::open((data / "data").string());
  ASSERT_TRUE(recording) << recording.error().one_line();
  EXPECT_GT(recording->trace_bytes(), 0U);
}

TEST(IntelPt, AFailedRecordingOfAKernelLeavesNothingBehind) {
  const std::string stand_in = std::string(PTLENS_BUILD_DIR) + "/ptsim/ptsim";
  if (find_program(stand_in).empty()) {
    GTEST_SKIP() << "ptsim is not built";
  }
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "recording");
  Request request;
  request.program = {folder / "no such program"};
  request.backend = "intel_pt";
  request.kernel = true;
  request.perf = stand_in;
  request.output = folder / "recording";
  const Progress progress;
  EXPECT_FALSE(record(request, progress));
  EXPECT_TRUE(std::filesystem::is_empty(folder / "recording"));
}

} // namespace
} // namespace ptlens::record::test
