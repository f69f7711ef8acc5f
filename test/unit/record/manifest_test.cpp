#include "record/manifest.hpp"
#include "record/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

namespace ptlens::record::test {
namespace {

TEST(ManifestFile, RoundTrips) {
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
  manifest.slowdown = 1.25;
  manifest.measured = {{.begin_ns = 5, .end_ns = 80}};
  manifest.end_ns = 90;
  manifest.notes = {make_note("first", "the number {}", 1), make_note("second", "no number")};
  manifest.probes = {
      {.kind = Probe::Kind::exit,
       .event_id = 9,
       .binary = "/bin/x",
       .function = 0xffffffffffffffff,
       .address = 0x1213,
       .tail_call = true,
       .target = true,
       .end_ns = 77},
      {.kind = Probe::Kind::entry, .event_id = 8, .binary = "/bin/x", .late_ns = 1900}};
  ASSERT_TRUE(write_manifest(folder / "", manifest));
  const auto read = read_manifest(folder / "");
  ASSERT_TRUE(read) << read.error().one_line();
  EXPECT_EQ(read->backend, manifest.backend);
  EXPECT_EQ(read->binary, manifest.binary);
  EXPECT_EQ(read->command, manifest.command);
  EXPECT_EQ(read->duration_s, manifest.duration_s);
  EXPECT_EQ(read->notes, manifest.notes);
  EXPECT_EQ(read->slowdown, 1.25);
  EXPECT_EQ(read->end_ns, 90U);
  ASSERT_EQ(read->probes.size(), 2U);
  EXPECT_EQ(read->probes[1].kind, Probe::Kind::entry);
  EXPECT_EQ(read->probes[0].kind, Probe::Kind::exit);
  EXPECT_EQ(read->probes[0].event_id, 9U);
  EXPECT_EQ(read->probes[0].end_ns, 77U);
  EXPECT_EQ(read->probes[0].function, 0xffffffffffffffff);
  EXPECT_EQ(read->probes[0].address, 0x1213U);
  EXPECT_TRUE(read->probes[0].tail_call);
  EXPECT_EQ(read->probes[1].late_ns, 1900);
}

TEST(ManifestFile, ErrorsNameTheBadField) {
  const TemporaryFolder folder;
  const auto error_of = [&folder](const std::string& text) {
    std::ofstream(folder / manifest_name) << text;
    const auto read = read_manifest(folder / "");
    EXPECT_FALSE(read) << text;
    return read ? std::string() : read.error().one_line();
  };
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(error_of(""), "not a JSON object"));
  EXPECT_TRUE(has(error_of("[1]"), "not a JSON object"));
  EXPECT_TRUE(has(error_of(std::string(100000, '[')), "not a JSON object"));
  EXPECT_TRUE(has(error_of("{}"), "version"));
  EXPECT_TRUE(has(error_of(R"({"version":99})"), "version 99"));
  EXPECT_TRUE(has(error_of(R"({"version":2})"), "version 2,"));
  EXPECT_TRUE(has(error_of(R"({"version":3,"backend":7})"), "backend"));
  const std::string good = R"({"version":3,"backend":"uprobe","ptlens_version":"","function":"",
      "binary":"","pid":1,"command":[],"duration_s":1,"perf_command":[],"slowdown":1,"notes":[{"code":"a","arguments":["1"],"text":"b"}],"probes":)";
  EXPECT_TRUE(has(error_of(std::regex_replace(good, std::regex(R"("code":"a",)"), "") + "[]}"),
                  "notes[0].code"));
  EXPECT_TRUE(has(error_of(good + "{}}"), "probes"));
  EXPECT_TRUE(has(error_of(good + "[1]}"), "probes[0]"));
  EXPECT_TRUE(has(error_of(good + R"([{"kind":"entry","event_id":1,"binary":"","function":"12",
      "address":"0x1","tail_call":false,"target":true,"latency_ns":0,"hit_ns":0,"uncertainty_ns":0,"to_binary":"","to_function":"0x0"}]})"),
                  "probes[0].function"));
  EXPECT_TRUE(has(error_of(good + R"([{"kind":"middle","event_id":1,"binary":"","function":"0x1",
      "address":"0x1","tail_call":false,"target":true,"latency_ns":0,"hit_ns":0,"uncertainty_ns":0,"to_binary":"","to_function":"0x0"}]})"),
                  "probes[0].kind"));
  std::filesystem::remove(folder / manifest_name);
  EXPECT_EQ(read_manifest(folder / "").error().kind, Error::Kind::not_found);
}

TEST(ProbeTable, DistinguishesProbesOfOneEventByTheirAddress) {
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
