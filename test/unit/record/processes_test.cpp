// Parsers of /proc, of file capabilities and of the output of ld.so. Formats: proc(5),
// capabilities(7), ld.so(8).
#include "record/processes/process_maps.hpp"
#include "record/processes/process_stat.hpp"
#include "record/processes/rights.hpp"
#include "record/targets/loader.hpp"

#include <gtest/gtest.h>

namespace ptlens::record::test {
namespace {

TEST(Proc, ReadsTheStatOfAProcessWithAMisleadingName) {
  // Field 22 is the 20th after the name.
  const auto stat = parse_process_stat(
      "77 (a) R 9 (b) S 12 0 0 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 4 0 987654321 0 0");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "a) R 9 (b");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 12);
  EXPECT_EQ(stat->start_time, 987654321U);
  EXPECT_FALSE(parse_process_stat("77 (a"));
  EXPECT_FALSE(parse_process_stat("77 (a) S 12 0"));
  EXPECT_FALSE(parse_process_stat(""));
}

TEST(Proc, ListsExecutableFilesOnce) {
  const auto files =
      parse_executable_maps("00400000-00401000 r--p 00000000 08:01 1 /bin/a b\n"
                            "00401000-00402000 r-xp 00001000 08:01 1                  /bin/a b\n"
                            "00500000-00501000 r-xp 00001000 08:01 2 /tmp/old (deleted)\n"
                            "00600000-00601000 r-xp 00000000 08:01 1 /bin/a b\n"
                            "00700000-00701000 r-xp 00000000 08:01 3 /tmp/new\\012line\n"
                            "7ffc0000-7ffc1000 r-xp 00000000 00:00 0 [vdso]\n"
                            "7fff0000-7fff1000 rwxp 00000000 00:00 0\n");
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0].path, "/bin/a b");
  EXPECT_FALSE(files[0].deleted);
  EXPECT_EQ(files[1].path, "/tmp/old");
  EXPECT_TRUE(files[1].deleted);
  EXPECT_EQ(files[2].path, "/tmp/new\nline");
  EXPECT_EQ(files[2].range, "700000-701000"); // as map_files names it, without leading zeros
  EXPECT_EQ(files[2].inode, 3U);
}

TEST(Proc, ListsTheMappingsOfFiles) {
  const auto ranges =
      parse_file_ranges("00400000-00401000 r--p 00000000 08:01 1 /bin/a b\n"
                        "00401000-00403000 r-xp 00001000 08:01 1                  /bin/a b\n"
                        "00500000-00501000 rw-p 00001000 08:01 2 /tmp/old (deleted)\n"
                        "7ffc0000-7ffc1000 r-xp 00000000 00:00 0 [vdso]\n"
                        "damaged\n");
  ASSERT_EQ(ranges.size(), 3U);
  EXPECT_EQ(ranges[1].start, 0x401000U);
  EXPECT_EQ(ranges[1].end, 0x403000U);
  EXPECT_EQ(ranges[1].path, "/bin/a b");
  EXPECT_EQ(ranges[2].path, "/tmp/old");
}

TEST(Machine, ReadsRightsFromStatusAndFiles) {
  // Bit 38 is CAP_PERFMON, 19 CAP_SYS_PTRACE, 14 CAP_IPC_LOCK, 21 CAP_SYS_ADMIN.
  const Rights perfmon =
      parse_rights("Name:\tx\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000004000084000\n");
  EXPECT_FALSE(perfmon.root);
  EXPECT_TRUE(perfmon.perfmon);
  EXPECT_TRUE(perfmon.sys_ptrace);
  EXPECT_TRUE(perfmon.ipc_lock);
  const Rights set_user = parse_rights("Uid:\t1000\t0\t0\t0\nCapEff:\t0000000000200000\n");
  EXPECT_TRUE(set_user.root);
  EXPECT_TRUE(set_user.perfmon); // by CAP_SYS_ADMIN
  EXPECT_FALSE(parse_rights("").root);

  // Revision 2, effective; permitted 1<<14 in the low word and 1<<(38-32) in the high one.
  const std::string attribute("\x01\x00\x00\x02"
                              "\x00\x40\x00\x00"
                              "\x00\x00\x00\x00"
                              "\x40\x00\x00\x00"
                              "\x00\x00\x00\x00",
                              20);
  EXPECT_TRUE(parse_file_capabilities(attribute).perfmon);
  EXPECT_TRUE(parse_file_capabilities(attribute).ipc_lock);
  EXPECT_FALSE(parse_file_capabilities(attribute).sys_ptrace);
  EXPECT_FALSE(parse_file_capabilities(attribute.substr(0, 19)).perfmon);
}

TEST(Loader, ParsesTheListOfTheDynamicLinker) {
  const std::vector<std::string> expected = {"/lib/x86_64-linux-gnu/libc.so.6",
                                             "/lib64/ld-linux-x86-64.so.2"};
  EXPECT_EQ(parse_library_list("\tlinux-vdso.so.1 (0x00007ffd5)\n"
                               "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f1)\n"
                               "\tlibgone.so => not found\n"
                               "\t/lib64/ld-linux-x86-64.so.2 (0x00007f2)\n"),
            expected);
}

} // namespace
} // namespace ptlens::record::test
