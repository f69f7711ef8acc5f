// Whole folders: what is read from them, and which ones are refused.
#include "uftrace/folder.hpp"
#include "uftrace_folder.hpp"

#include <gtest/gtest.h>

#include <linux/perf_event.h>

namespace ptlens::uftrace {
namespace {

using test::Header;
using test::number;
using test::TestFolder;

// Returns the error of a folder that must be refused.
Error refusal(const TestFolder& folder) {
  const auto opened = open_folder(folder.path());
  EXPECT_FALSE(opened.has_value());
  return opened ? Error{} : opened.error();
}

// A record of the kernel with the trailer that uftrace asks for.
std::string side_band(std::uint32_t type, std::uint16_t misc, const std::string& fields,
                      std::uint32_t tid, std::uint64_t time) {
  return number(type, 4) + number(misc, 2) + number(8 + fields.size() + 16, 2) + fields +
         number(77, 4) + number(tid, 4) + number(time);
}

TEST(UftraceFolder, ProgramsThreadsAndModulesAreRead) {
  const TestFolder folder;
  ASSERT_TRUE(is_folder(folder.path()));
  const auto opened = open_folder(folder.path());
  ASSERT_TRUE(opened.has_value()) << opened.error().one_line();
  EXPECT_EQ(opened->info.program, "/bin/program");
  EXPECT_EQ(opened->info.uftrace_version, "v0.13");
  EXPECT_EQ(opened->side_band.hostname, "here");
  EXPECT_TRUE(opened->info.library_calls);
  ASSERT_EQ(opened->threads.size(), 1U);
  EXPECT_EQ(opened->threads[0].pid, 77);
  EXPECT_EQ(opened->threads[0].start_ns, 10'000'000'002U);
  EXPECT_EQ(opened->threads[0].bytes, 32U);
  ASSERT_EQ(opened->side_band.mappings.size(), 1U); // the stack is none
  const perfdata::Mapping& mapping = opened->side_band.mappings[0];
  EXPECT_EQ(mapping.start, 0x560000000000U);
  EXPECT_EQ(mapping.length, 0x10000U);
  EXPECT_EQ(mapping.path, "/bin/program");
  EXPECT_EQ(mapping.build_id, (std::vector<std::uint8_t>{0, 0x11, 0x22, 0x33}));
}

TEST(UftraceFolder, AProgramThatWasNeverSwitchedOutHasItsSwitchesRecorded) {
  const TestFolder folder;
  folder.write("perf-cpu0.dat", "");
  const auto without = open_folder(folder.path());
  ASSERT_TRUE(without.has_value()) << without.error().one_line();
  EXPECT_FALSE(without->side_band.switches_recorded);
  folder.write("perf-cpu0.dat",
               side_band(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC,
                         number(77, 4) + number(77, 4) + std::string("program\0", 8), 77, 100));
  const auto with = open_folder(folder.path());
  ASSERT_TRUE(with.has_value()) << with.error().one_line();
  EXPECT_TRUE(with->side_band.switches.empty());
  EXPECT_TRUE(with->side_band.switches_recorded);
}

TEST(UftraceFolder, SwitchesNamesAndExitsComeFromTheFilesOfTheProcessors) {
  const TestFolder folder;
  folder.write(
      "perf-cpu1.dat",
      side_band(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, "", 77, 300) +
          side_band(PERF_RECORD_EXIT, 0,
                    number(77, 4) + number(1, 4) + number(78, 4) + number(77, 4) + number(900), 78,
                    900));
  folder.write("perf-cpu0.dat",
               side_band(PERF_RECORD_COMM, 0,
                         number(77, 4) + number(78, 4) + std::string("worker\0\0", 8), 78, 100) +
                   side_band(PERF_RECORD_SWITCH,
                             PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, "",
                             78, 200) +
                   side_band(PERF_RECORD_LOST, 0, number(1) + number(3), 78, 250));
  const auto opened = open_folder(folder.path());
  ASSERT_TRUE(opened.has_value()) << opened.error().one_line();
  const auto& switches = opened->side_band.switches;
  ASSERT_EQ(switches.size(), 2U); // by time
  EXPECT_EQ(switches[0].tid, 78);
  EXPECT_EQ(switches[0].cpu, 0);
  EXPECT_TRUE(switches[0].preempted);
  EXPECT_EQ(switches[1].tid, 77);
  EXPECT_EQ(switches[1].cpu, 1);
  EXPECT_TRUE(switches[1].out);
  EXPECT_FALSE(switches[1].preempted);
  EXPECT_TRUE(opened->side_band.switches_recorded);
  ASSERT_EQ(opened->side_band.thread_exits.size(), 1U);
  EXPECT_EQ(opened->side_band.thread_exits[0].tid, 78);
  ASSERT_EQ(opened->side_band.lost.size(), 1U);
  EXPECT_EQ(opened->side_band.lost[0].count, 3U);
  EXPECT_TRUE(std::ranges::any_of(opened->side_band.thread_names, [](const auto& name) {
    return name.tid == 78 && name.name == "worker";
  }));
}

TEST(UftraceFolder, AnExecIsANewImageOfTheProcess) {
  const TestFolder folder;
  folder.write("task.txt",
               fmt::format("SESS timestamp=10.000000001 pid=77 sid={} exename=\"/bin/program\"\n"
                           "TASK timestamp=10.000000002 tid=77 pid=77\n"
                           "FORK timestamp=10.000000500 pid=80 ppid=77\n"
                           "SESS timestamp=11.000000000 pid=80 sid=fedcba9876543210 "
                           "exename=\"/bin/an other\"\n"
                           "SESS timestamp=12.000000000 pid=80 sid=fedcba9876543211 "
                           "exename=\"/bin/third\"\n",
                           test::session_id));
  folder.write("sid-fedcba9876543210.map", "1000-2000 r-xp 0 00:00 0 /bin/an other\n");
  folder.write("sid-fedcba9876543211.map", "3000-4000 r-xp 0 00:00 0 /bin/third\n");
  const auto opened = open_folder(folder.path());
  ASSERT_TRUE(opened.has_value()) << opened.error().one_line();
  ASSERT_EQ(opened->side_band.thread_starts.size(), 1U);
  EXPECT_EQ(opened->side_band.thread_starts[0].pid, 80);
  EXPECT_EQ(opened->side_band.thread_starts[0].parent_pid, 77);
  std::vector<std::uint64_t> execs;
  for (const perfdata::ThreadName& name : opened->side_band.thread_names) {
    if (name.exec) {
      execs.push_back(name.time_ns);
    }
  }
  // The forked process has its parent's image until the first of its own.
  EXPECT_EQ(execs, (std::vector<std::uint64_t>{11'000'000'000, 12'000'000'000}));
  EXPECT_EQ(opened->side_band.mappings[1].path, "/bin/an other");
}

TEST(UftraceFolder, FilesThatAreMissingAreNamed) {
  for (const std::string name : {"info", "task.txt", "sid-0123456789abcdef.map"}) {
    const TestFolder folder;
    folder.remove(name);
    const Error error = refusal(folder);
    EXPECT_EQ(error.kind, Error::Kind::not_found);
    EXPECT_EQ(error.file, folder.file(name));
    EXPECT_NE(error.remedy, "");
  }
  const TestFolder folder;
  folder.remove("77.dat");
  EXPECT_NE(refusal(folder).message.find("no thread has records"), std::string::npos);
}

TEST(UftraceFolder, HeadersThatCannotBeReadAreRefusedWithTheirOffset) {
  struct Case {
    Header header;
    std::uint64_t offset;
    Error::Kind kind;
  };
  const Header good;
  std::vector<Case> cases(5, {good, 0, Error::Kind::unsupported});
  cases[0] = {good, 0, Error::Kind::bad_input};
  cases[0].header.magic = "PERFILE2";
  cases[1].header.version = 99;
  cases[1].offset = 8;
  cases[2].header.byte_order = 2;
  cases[2].offset = 14;
  cases[3].header.elf_class = 1;
  cases[3].offset = 15;
  cases[4] = {good, 12, Error::Kind::bad_input};
  cases[4].header.size = 60'000;
  for (const Case& each : cases) {
    const TestFolder folder;
    folder.write("info", each.header.bytes());
    const Error error = refusal(folder);
    EXPECT_EQ(error.kind, each.kind);
    EXPECT_EQ(error.offset, each.offset);
    EXPECT_EQ(error.file, folder.file("info"));
  }
  const TestFolder folder;
  folder.write("info", good.bytes().substr(0, 39));
  EXPECT_EQ(refusal(folder).offset, 39U);
}

TEST(UftraceFolder, HostileListsOfThreadsAreRefused) {
  const std::string first =
      fmt::format("SESS timestamp=1.1 pid=77 sid={} exename=\"/bin/program\"\n", test::session_id);
  for (const std::string& line : std::vector<std::string>{
           "TASK timestamp=1.1 tid=-5 pid=77\n",
           "TASK timestamp=1.1 tid=99999999999999 pid=77\n",
           "TASK timestamp=99999999999999999999.1 tid=1 pid=77\n",
           "TASK timestamp=18446744073.999999999 tid=1 pid=77\n",
           "TASK timestamp=1.4000000000 tid=1 pid=77\n",
           "TASK tid=1\n",
           "FORK timestamp=1.1 pid=1\n",
           "SESS timestamp=1.1 pid=77 sid=../../../../etc/ exename=\"x\"\n",
           "SESS timestamp=1.1 pid=77 sid=0123456789abcdef exename=x\n",
           "DLOP timestamp=1.1 tid=77 sid=0123456789abcdef base=xyz libname=\"/x\"\n",
       }) {
    const TestFolder folder;
    folder.write("task.txt", first + line);
    const Error error = refusal(folder);
    EXPECT_EQ(error.kind, Error::Kind::bad_input) << line;
    EXPECT_EQ(error.file, folder.file("task.txt")) << line;
    EXPECT_EQ(error.offset, first.size()) << line;
  }
  const TestFolder folder;
  folder.write("task.txt", "");
  EXPECT_NE(refusal(folder).message.find("no program"), std::string::npos);
  folder.write("task.txt", first);
  EXPECT_NE(refusal(folder).message.find("no thread"), std::string::npos);
}

TEST(UftraceFolder, HostileMapsAreRefused) {
  for (const std::string line :
       {"x\n", "2000-1000 r-xp 0 00:00 0 /a\n", "1000-2000 r-xp\n", "1000-2000 r-xp 0 00:00 0\n",
        "10000000000000000-20000000000000000 r-xp 0 00:00 0 /a\n"}) {
    const TestFolder folder;
    folder.write("sid-0123456789abcdef.map", line);
    EXPECT_EQ(refusal(folder).offset, 0U) << line;
  }
}

TEST(UftraceFolder, BrokenSideBandIsRefusedWithItsOffset) {
  const std::string good = side_band(PERF_RECORD_SWITCH, 0, "", 77, 5);
  for (const std::string& bad :
       {number(PERF_RECORD_SWITCH, 4), // a header that is cut off
        number(PERF_RECORD_SWITCH, 4) + number(0, 2) + number(4, 2),
        number(PERF_RECORD_SWITCH, 4) + number(0, 2) + number(60'000, 2),
        number(PERF_RECORD_SWITCH, 4) + number(0, 2) + number(16, 2) + number(0),
        side_band(PERF_RECORD_EXIT, 0, number(1, 4), 77, 6)}) {
    const TestFolder folder;
    folder.write("perf-cpu0.dat", good + bad);
    const Error error = refusal(folder);
    EXPECT_EQ(error.kind, Error::Kind::bad_input);
    EXPECT_EQ(error.offset, good.size());
    EXPECT_EQ(error.file, folder.file("perf-cpu0.dat"));
  }
}

TEST(UftraceFolder, SymbolsNameTheAddressesOfTheirModule) {
  const TestFolder folder;
  folder.write("program.sym", "# symbols: 3\n# path name: /bin/program\n# build-id: 00112233\n"
                              "0000000000001000 T main\n"
                              "garbage\n"
                              "0000000000001100 P malloc\n"
                              "0000000000001200 d data\n"
                              "0000000000001300 ? __sym_end\n");
  folder.write("program-9999.sym", "# path name: /other/program\n0000000000001000 T other\n");
  const auto opened = open_folder(folder.path());
  ASSERT_TRUE(opened.has_value()) << opened.error().one_line();
  const SymbolFile symbols = opened->symbols_of("/bin/program", {0, 0x11, 0x22, 0x33});
  ASSERT_NE(symbols.find(0x1005), nullptr);
  EXPECT_EQ(symbols.find(0x1005)->name, "main");
  EXPECT_EQ(symbols.find(0x1100)->name, "malloc");
  EXPECT_TRUE(symbols.find(0x1100)->stub);
  EXPECT_EQ(symbols.find(0xfff), nullptr);
  EXPECT_EQ(symbols.find(0x1300), nullptr);
  EXPECT_EQ(opened->symbols_of("/bin/program", {1, 2, 3}).find(0x1005), nullptr);
}

} // namespace
} // namespace ptlens::uftrace
