// Parsers and builders without a machine: expected values from perf-record(1), perf-intel-pt(1),
// proc(5), the kernel's uprobe tracer and the Intel SDM, or worked out by hand.
#include "record/machine/loader.hpp"
#include "record/probes/tracefs.hpp"
#include "record_test_support.hpp"

#include <fmt/format.h>

namespace ptlens::record::test {
namespace {

TEST(Proc, ReadsTheStatOfAProcessWhoseNameIsMadeToConfuse) {
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

TEST(Tracefs, KnowsItsOwnGroupsOnly) {
  const auto owner = parse_group("ptlens_12_3456_7");
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->pid, 12);
  EXPECT_EQ(owner->start_time, 3456U);
  for (const char* other : {"ptlens", "ptlens_", "ptlens_12", "ptlens_x_1_0", "ptlens_-1_1_0",
                            "ptlens_12_3456_7x", "ptlens_12_99999999999999999999", "uprobes"}) {
    EXPECT_FALSE(parse_group(other)) << other;
  }
  EXPECT_EQ(parse_definition("p:g/entry /proc/1/fd/3:0x0000000000001213 sp=%sp:u64"), "g/entry");
  EXPECT_FALSE(parse_definition("p:entry /bin/x:0x1"));
  EXPECT_FALSE(parse_definition(""));
}

TEST(Tracefs, FindsFieldsInAFormat) {
  constexpr std::string_view format =
      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
      "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
      "\tfield:u64 sp;\toffset:16;\tsize:8;\tsigned:0;\n";
  EXPECT_EQ(field_offset(format, "__probe_ip"), 8U);
  EXPECT_EQ(field_offset(format, "sp"), 16U);
  EXPECT_FALSE(field_offset(format, "ret"));
  EXPECT_FALSE(field_offset(format, "common_pid")); // not 8 bytes
}

TEST(Loader, ReadsWhatTheDynamicLinkerLists) {
  const std::vector<std::string> expected = {"/lib/x86_64-linux-gnu/libc.so.6",
                                             "/lib64/ld-linux-x86-64.so.2"};
  EXPECT_EQ(parse_library_list("\tlinux-vdso.so.1 (0x00007ffd5)\n"
                               "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f1)\n"
                               "\tlibgone.so => not found\n"
                               "\t/lib64/ld-linux-x86-64.so.2 (0x00007f2)\n"),
            expected);
}

TEST(ManifestFile, ComesBackAsItWasWritten) {
  const TemporaryFolder folder;
  Manifest manifest;
  manifest.backend = "uprobe";
  manifest.ptlens_version = "1.2.3";
  manifest.function = "ns::f(int)";
  manifest.binary = "/bin/\"x\"\n";
  manifest.pid = 7;
  manifest.command = {"a", ""};
  manifest.duration_s = 0.25;
  manifest.perf_command = {"perf", "record"};
  manifest.notes = {"first", "second"};
  manifest.probes = {{.kind = Probe::Kind::exit,
                      .event_id = 9,
                      .binary = "/bin/x",
                      .function = 0xffffffffffffffff,
                      .address = 0x1213,
                      .tail_call = true,
                      .target = true},
                     {.kind = Probe::Kind::after_entry, .event_id = 8, .binary = "/bin/x"}};
  manifest.cost_in_time = {{.tid = 8,
                            .from_ns = {1, 1'000'000'000'000},
                            .scale = {1, 1.25},
                            .hit_scale = {1, 1.5},
                            .uncertainty = {0.5, 0}}};
  ASSERT_TRUE(write_manifest(folder / "", manifest));
  const auto read = read_manifest(folder / "");
  ASSERT_TRUE(read) << read.error().one_line();
  EXPECT_EQ(read->backend, manifest.backend);
  EXPECT_EQ(read->binary, manifest.binary);
  EXPECT_EQ(read->command, manifest.command);
  EXPECT_EQ(read->duration_s, manifest.duration_s);
  EXPECT_EQ(read->notes, manifest.notes);
  ASSERT_EQ(read->probes.size(), 2U);
  EXPECT_EQ(read->probes[1].kind, Probe::Kind::after_entry);
  EXPECT_EQ(read->probes[0].kind, Probe::Kind::exit);
  EXPECT_EQ(read->probes[0].event_id, 9U);
  EXPECT_EQ(read->probes[0].function, 0xffffffffffffffff);
  EXPECT_EQ(read->probes[0].address, 0x1213U);
  EXPECT_TRUE(read->probes[0].tail_call);
  ASSERT_EQ(read->cost_in_time.size(), 1U);
  EXPECT_EQ(read->cost_in_time[0].tid, 8);
  EXPECT_EQ(read->cost_in_time[0].from_ns, manifest.cost_in_time[0].from_ns);
  EXPECT_EQ(read->cost_in_time[0].scale, manifest.cost_in_time[0].scale);
  EXPECT_EQ(read->cost_in_time[0].hit_scale, manifest.cost_in_time[0].hit_scale);
  EXPECT_EQ(read->cost_in_time[0].uncertainty, manifest.cost_in_time[0].uncertainty);
}

TEST(ManifestFile, BadOnesAreErrorsThatNameTheField) {
  const TemporaryFolder folder;
  const auto error_of = [&folder](const std::string& text) {
    std::ofstream(folder / manifest_name) << text;
    const auto read = read_manifest(folder / "");
    EXPECT_FALSE(read) << text;
    return read ? std::string() : read.error().one_line();
  };
  const auto has = [](const std::string& text, std::string_view words) {
    return text.find(words) != std::string::npos;
  };
  EXPECT_TRUE(has(error_of(""), "not a JSON object"));
  EXPECT_TRUE(has(error_of("[1]"), "not a JSON object"));
  EXPECT_TRUE(has(error_of(std::string(100000, '[')), "not a JSON object"));
  EXPECT_TRUE(has(error_of("{}"), "version"));
  EXPECT_TRUE(has(error_of(R"({"version":99})"), "newer"));
  EXPECT_TRUE(has(error_of(R"({"version":1,"backend":7})"), "backend"));
  const std::string good = R"({"version":1,"backend":"uprobe","ptlens_version":"","function":"",
      "binary":"","pid":1,"command":[],"duration_s":1,"perf_command":[],"notes":[],"probes":)";
  EXPECT_TRUE(has(error_of(good + "{}}"), "probes"));
  EXPECT_TRUE(has(error_of(good + "[1]}"), "probes[0]"));
  EXPECT_TRUE(has(error_of(good + R"([{"kind":"entry","event_id":1,"binary":"","function":"12",
      "address":"0x1","tail_call":false,"target":true}]})"),
                  "probes[0].function"));
  EXPECT_TRUE(has(error_of(good + R"([{"kind":"middle","event_id":1,"binary":"","function":"0x1",
      "address":"0x1","tail_call":false,"target":true}]})"),
                  "probes[0].kind"));
  const std::string timed = good + R"([],"cost_in_time":)";
  EXPECT_TRUE(has(error_of(timed + "1}"), "cost_in_time"));
  EXPECT_TRUE(has(error_of(timed + R"([{"tid":1,"from_ns":[1],"scale":["2"],"uncertainty":[0]}]})"),
                  "cost_in_time[0].scale"));
  for (const char* lists : {R"("from_ns":[1,2],"scale":[1],"uncertainty":[0,0])",
                            R"("from_ns":[1],"scale":[1],"hit_scale":[1,1],"uncertainty":[0])",
                            R"("from_ns":[2,1],"scale":[1,1],"uncertainty":[0,0])"}) {
    EXPECT_TRUE(
        has(error_of(fmt::format(R"({}[{{"tid":1,{}}}]}})", timed, lists)), "cost_in_time[0]"));
  }
  std::filesystem::remove(folder / manifest_name);
  EXPECT_EQ(read_manifest(folder / "").error().kind, Error::Kind::not_found);
}

TEST(ProbeTable, TellsProbesOfOneEventByTheirPlace) {
  const ProbeTable table({{.event_id = 1, .binary = "/a", .function = 10, .address = 10},
                          {.event_id = 2, .binary = "/a", .function = 10, .address = 10},
                          {.event_id = 1, .binary = "/b", .function = 11, .address = 10}});
  ASSERT_NE(table.find(1, "/b", 10), nullptr);
  EXPECT_EQ(table.find(1, "/b", 10)->function, 11U);
  EXPECT_EQ(table.find(2, "/a", 10)->event_id, 2U);
  EXPECT_EQ(table.find(2, "/b", 10), nullptr);
  EXPECT_EQ(table.find(1, "/a", 11), nullptr);
  EXPECT_EQ(ProbeTable({}).find(1, "/a", 10), nullptr);
}

} // namespace
} // namespace ptlens::record::test
