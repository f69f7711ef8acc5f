// The binaries that a real recording names and that this machine does not have, compared with
// perf's list of the build-ids in the file.
#include "perfdata/recording.hpp"
#include "symbols/address_space.hpp"
#include "symbols/compiled_programs.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

namespace ptlens::symbols::test {
namespace {

TEST(RealRecordings, NameMissingBinariesWithTheirBuildIds) {
  const std::filesystem::path folder =
      std::filesystem::path(PTLENS_SOURCE_ROOT) / "../shared/traces/quipper-hello-world";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "the real recordings are not on this machine";
  }
  const std::string path = (folder / "perf.data").string();
  auto recording = perfdata::Recording::open(path);
  ASSERT_TRUE(recording) << recording.error().one_line();
  BinaryFinder binaries({.symfs = "/no/such/folder", .recording_folder = ""});
  const AddressSpaces spaces(*recording, binaries);
  std::map<std::string, std::string> missing;
  for (const MissingBinary& binary : binaries.missing()) {
    missing[binary.path] = binary.build_id;
  }
  const auto listed = run_command({"perf", "buildid-list", "-f", "-i", path});
  if (listed.status != 0) {
    GTEST_SKIP() << "perf is not installed";
  }
  std::size_t checked = 0;
  for (const std::string& line : lines_of(listed.output)) {
    const std::size_t space = line.find(' ');
    ASSERT_NE(space, std::string::npos);
    const auto found = missing.find(line.substr(space + 1));
    if (found != missing.end()) {
      EXPECT_EQ(found->second, line.substr(0, space)) << line;
      ++checked;
    }
  }
  EXPECT_GT(checked, 10U);
  EXPECT_TRUE(missing.contains("/usr/bin/coreutils"));
}

} // namespace
} // namespace ptlens::symbols::test
