// Binaries that were read before they are needed are used as long as no file has changed that a new
// reading would look at.
#include "symbols/binary_finder.hpp"
#include "symbols/compiled_programs.hpp"
#include "symbols/elf/opened_files.hpp"
#include "symbols/read_binaries.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace ptlens::symbols::test {
namespace {

namespace fs = std::filesystem;

class ReadBinary : public testing::Test {
protected:
  static constexpr std::string_view one_ =
      "int early() { return 1; }\nint main() { return early(); }\n";
  static constexpr std::string_view two_ =
      "int later() { return 2; }\nint main() { return later(); }\n";

  TemporaryFolder folder_;
  std::string program_ = folder_.compile("program", one_, {"-O0", "-g"});
  ReadBinaries read_;
};

TEST_F(ReadBinary, IsTheOneThatAFinderReturns) {
  const auto read = std::make_shared<ReadBinaries>();
  ASSERT_TRUE(read->read(program_));
  BinaryFinder finder({.symfs = "", .recording_folder = "", .read = read});
  const auto found = finder.find(program_, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found, read->find(program_));
  EXPECT_EQ(found->find("early").size(), 1U);
  EXPECT_EQ(function_named(*found, "early")->address, address_of(program_, "_Z5earlyv"));
}

TEST_F(ReadBinary, IsNotUsedAfterTheFileWasReplaced) {
  const auto read = std::make_shared<ReadBinaries>();
  ASSERT_TRUE(read->read(program_));
  fs::rename(folder_.compile("other", two_, {"-O0", "-g"}), program_);
  EXPECT_FALSE(read->find(program_));
  BinaryFinder finder({.symfs = "", .recording_folder = "", .read = read});
  const auto found = finder.find(program_, {});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->find("early").empty());
  EXPECT_EQ(found->find("later").size(), 1U);
}

TEST_F(ReadBinary, IsNotUsedAfterTheFileWasTouched) {
  ASSERT_TRUE(read_.read(program_));
  ASSERT_TRUE(read_.find(program_));
  fs::last_write_time(program_, fs::last_write_time(program_) + std::chrono::seconds(1));
  EXPECT_FALSE(read_.find(program_));
  ASSERT_TRUE(read_.read(program_)); // as it is now
  EXPECT_TRUE(read_.find(program_));
  fs::remove(program_);
  EXPECT_FALSE(read_.find(program_));
}

TEST_F(ReadBinary, IsNotUsedAfterADebugFileCameOrWent) {
  const std::string debug = folder_ / "program.debug";
  ASSERT_EQ(run_command({"objcopy", "--only-keep-debug", program_, debug}).status, 0);
  ASSERT_EQ(
      run_command({"objcopy", "--strip-debug", "--add-gnu-debuglink=" + debug, program_}).status,
      0);
  fs::rename(debug, debug + ".away");
  ASSERT_TRUE(read_.read(program_));
  EXPECT_FALSE(read_.find(program_)->has_debug_info());
  fs::rename(debug + ".away", debug);
  EXPECT_FALSE(read_.find(program_));
  ASSERT_TRUE(read_.read(program_));
  ASSERT_TRUE(read_.find(program_));
  EXPECT_TRUE(read_.find(program_)->has_debug_info());
  fs::remove(debug);
  EXPECT_FALSE(read_.find(program_));
}

TEST_F(ReadBinary, CountsAmongTheFilesThatAnAnswerDependsOn) {
  ASSERT_TRUE(read_.read(program_));
  const OpenedFiles trail;
  ASSERT_TRUE(read_.find(program_));
  EXPECT_TRUE(trail.paths().contains(program_));
}

TEST_F(ReadBinary, IsAbsentWhereNothingWasRead) {
  EXPECT_FALSE(read_.find(program_));
  EXPECT_FALSE(read_.read(folder_ / "program.cpp"));
  EXPECT_FALSE(read_.read(folder_ / "nothing"));
  EXPECT_FALSE(read_.find(folder_ / "nothing"));
}

} // namespace
} // namespace ptlens::symbols::test
