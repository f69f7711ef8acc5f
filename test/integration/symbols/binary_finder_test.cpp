// The order of the search for binaries, and the reasons to refuse one.
#include "symbols/binary_finder.hpp"
#include "symbols/compiled_programs.hpp"
#include "symbols/elf/build_id.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace ptlens::symbols::test {
namespace {

// Returns the build-id that readelf prints.
std::vector<std::uint8_t> readelf_build_id(const std::string& path) {
  constexpr std::string_view label = "Build ID: ";
  std::vector<std::uint8_t> bytes;
  for (const std::string& line : lines_of(run_command({"readelf", "-n", path}).output)) {
    const std::size_t at = line.find(label);
    const std::string text = at == std::string::npos ? "" : line.substr(at + label.size());
    for (std::size_t digit = 0; digit + 1 < text.size(); digit += 2) {
      bytes.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(digit, 2), nullptr, 16)));
    }
  }
  return bytes;
}

class FindBinary : public testing::Test {
protected:
  static constexpr std::string_view one_ = "int main() { return 1; }\n";
  static constexpr std::string_view two_ =
      "int helper() { return 7; }\nint main() { return helper(); }\n";

  void copy(const std::string& from, const std::string& to) {
    std::filesystem::create_directories(std::filesystem::path(to).parent_path());
    std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
  }

  TemporaryFolder folder_;
  std::string one = folder_.compile("one", one_, {"-O0", "-Wl,--build-id=sha1"});
  std::string two = folder_.compile("two", two_, {"-O0", "-Wl,--build-id=sha1"});
};

TEST_F(FindBinary, ReadsTheBuildIdThatReadelfShows) {
  const auto binary = open_binary(one);
  ASSERT_TRUE(binary);
  const std::vector<std::uint8_t> expected = readelf_build_id(one);
  ASSERT_EQ(expected.size(), 20U);
  EXPECT_TRUE(std::ranges::equal(binary->build_id(), expected));
}

TEST_F(FindBinary, LooksUnderSymfsFirst) {
  copy(two, folder_ / ("symfs" + one));
  BinaryFinder binaries({.symfs = folder_ / "symfs", .recording_folder = ""});
  const auto found = binaries.find(one, {});
  ASSERT_TRUE(found);
  EXPECT_TRUE(std::ranges::equal(found->build_id(), readelf_build_id(two)));
  EXPECT_EQ(binaries.find(one, {}), found);
  EXPECT_TRUE(binaries.missing().empty());
}

TEST_F(FindBinary, RefusesAnotherBuildAndContinues) {
  copy(two, folder_ / ("symfs" + one));
  BinaryFinder binaries({.symfs = folder_ / "symfs", .recording_folder = ""});
  const auto found = binaries.find(one, readelf_build_id(one));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path(), one);
}

TEST_F(FindBinary, ListsEachMissingBinaryOnceWithTheReason) {
  BinaryFinder binaries({.symfs = "", .recording_folder = ""});
  EXPECT_FALSE(binaries.find(one, readelf_build_id(two)));
  EXPECT_FALSE(binaries.find(one, readelf_build_id(two)));
  EXPECT_FALSE(binaries.find("/no/such/library.so", {}));
  EXPECT_FALSE(binaries.find("//anon", {}));
  ASSERT_EQ(binaries.missing().size(), 3U);
  EXPECT_EQ(binaries.missing()[0].path, one);
  EXPECT_EQ(binaries.missing()[0].build_id, build_id_text(readelf_build_id(two)));
  EXPECT_TRUE(binaries.missing()[0].reason.contains(build_id_text(readelf_build_id(one))))
      << binaries.missing()[0].reason;
  EXPECT_TRUE(binaries.missing()[1].reason.contains("No such file"))
      << binaries.missing()[1].reason;
  EXPECT_EQ(binaries.missing()[1].build_id, "");
}

TEST_F(FindBinary, WithSymfsUsesAFileElsewhereOnlyByItsBuildId) {
  BinaryFinder binaries({.symfs = folder_ / "empty", .recording_folder = ""});
  EXPECT_FALSE(binaries.find(one, {}));
  EXPECT_TRUE(binaries.find(one, readelf_build_id(one)));
}

TEST_F(FindBinary, FindsTheVdsoInTheRecordingsFolder) {
  copy(one, folder_ / "recording/vdso.so");
  BinaryFinder binaries({.symfs = "", .recording_folder = folder_ / "recording"});
  EXPECT_TRUE(binaries.find("[vdso]", readelf_build_id(one)));
  EXPECT_FALSE(binaries.find("[vdso]", readelf_build_id(two)));
  EXPECT_FALSE(binaries.find("[heap]", {}));
  BinaryFinder elsewhere({.symfs = folder_ / "symfs", .recording_folder = ""});
  EXPECT_FALSE(elsewhere.find("[vdso]", {}));
  ASSERT_EQ(elsewhere.missing().size(), 1U);
  EXPECT_FALSE(elsewhere.missing()[0].reason.empty());
}

TEST_F(FindBinary, FindsBuildIdsInPerfsCache) {
  const char* home = std::getenv("HOME"); // NOLINT(concurrency-mt-unsafe)
  const std::string before = home == nullptr ? "" : home;
  const std::vector<std::uint8_t> id = readelf_build_id(one);
  const std::string text = build_id_text(id);
  copy(one,
       folder_ / ("home/.debug/.build-id/" + text.substr(0, 2) + "/" + text.substr(2) + "/elf"));
  ::setenv("HOME", (folder_ / "home").c_str(), 1); // NOLINT(concurrency-mt-unsafe)
  BinaryFinder binaries({.symfs = "", .recording_folder = ""});
  const auto found = binaries.find("/gone/program", id);
  ::setenv("HOME", before.c_str(), 1); // NOLINT(concurrency-mt-unsafe)
  ASSERT_TRUE(found);
  EXPECT_TRUE(std::ranges::equal(found->build_id(), id));
}

} // namespace
} // namespace ptlens::symbols::test
