// Recordings with ptsim in the place of perf.
#include "record/backends/intel_pt_backend.hpp"
#include "record_test_support.hpp"

#include <algorithm>

namespace ptlens::record::test {
namespace {

TEST(IntelPt, ARequestWithoutTheDeviceIsRefused) {
  if (read_machine("").intel_pt) {
    GTEST_SKIP() << "this machine has Intel PT";
  }
  const ProgramFolder folder;
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

TEST(IntelPt, PtsimWritesARecording) {
  const std::string ptsim = PTLENS_BUILD_DIR "/ptsim/ptsim";
  if (find_program(ptsim).empty()) {
    GTEST_SKIP() << "ptsim is not built";
  }
  const ProgramFolder folder;
  const std::string program = folder.compile("program", R"(
    extern "C" __attribute__((noipa)) int work(int x) { return x + 1; }
    int main() { int x = 0; for (int i = 0; i < 10; ++i) x = work(x); }
  )");
  Request request;
  request.program = {program};
  request.function = "work";
  request.backend = "intel_pt";
  request.perf = ptsim;
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

// With a copy of the kernel's code, perf writes a folder instead of a file.
TEST(IntelPt, TheCodeOfATracedKernelIsCopied) {
  const std::string ptsim = PTLENS_BUILD_DIR "/ptsim/ptsim";
  if (find_program(ptsim).empty()) {
    GTEST_SKIP() << "ptsim is not built";
  }
  const ProgramFolder folder;
  Request request;
  request.program = {folder.compile("program", "int main() { return 0; }")};
  request.backend = "intel_pt";
  request.kernel = true;
  request.perf = ptsim;
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
  const std::string ptsim = PTLENS_BUILD_DIR "/ptsim/ptsim";
  if (find_program(ptsim).empty()) {
    GTEST_SKIP() << "ptsim is not built";
  }
  const ProgramFolder folder;
  std::filesystem::create_directories(folder / "recording");
  Request request;
  request.program = {folder / "no such program"};
  request.backend = "intel_pt";
  request.kernel = true;
  request.perf = ptsim;
  request.output = folder / "recording";
  const Progress progress;
  EXPECT_FALSE(record(request, progress));
  EXPECT_TRUE(std::filesystem::is_empty(folder / "recording"));
}

} // namespace
} // namespace ptlens::record::test
