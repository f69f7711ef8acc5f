#include "record/processes/process_files.hpp"
#include "record/processes/process_list.hpp"
#include "record/processes/process_stat.hpp"
#include "record_test_support.hpp"

#include <algorithm>

namespace ptlens::record::test {
namespace {

TEST(Processes, FindsTheOneBuiltFromASource) {
  const ProgramFolder folder;
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
  const auto binaries = process_files(running.pid());
  ASSERT_TRUE(binaries);
  EXPECT_EQ(binaries->front().path, program);
  EXPECT_FALSE(binaries->front().elsewhere());
  EXPECT_TRUE(std::ranges::any_of(*binaries, [](const ProcessFile& file) {
    return file.open_path.find("libc") != std::string::npos;
  }));

  const auto plain = processes("");
  EXPECT_TRUE(std::ranges::none_of(plain, &Process::has_source));
  EXPECT_TRUE(std::ranges::is_sorted(plain, std::greater(), &Process::start_time));
}

TEST(Processes, AnEndedProcessIsAnError) {
  Running running({"/bin/true"});
  const std::int32_t pid = running.pid();
  ASSERT_TRUE(running.wait());
  const auto binaries = process_files(pid);
  ASSERT_FALSE(binaries);
  EXPECT_EQ(binaries.error().kind, Error::Kind::gone);
}

} // namespace
} // namespace ptlens::record::test
