// Files are read back with perfdata, and by perf where it is installed.
#include "perfdata/recording.hpp"
#include "record/probes/events/process_records.hpp"
#include "record/probes/events/record_order.hpp"
#include "record/probes/session/data_file.hpp"
#include "temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <linux/perf_event.h>

namespace ptlens::record::test {
namespace {

TEST(DataFile, IsReadAsItWasWritten) {
  const TemporaryFolder folder;
  auto file = DataFile::create(folder / "perf.data");
  ASSERT_TRUE(file) << file.error().one_line();
  const std::string_view maps =
      "55d0c0a00000-55d0c0a01000 r--p 00000000 fd:00 123                        /opt/a program\n"
      "55d0c0a01000-55d0c0a05000 r-xp 00001000 fd:00 123                        /opt/a program\n"
      "7ffd1d9e4000-7ffd1d9e6000 r-xp 00000000 00:00 0                          [vdso]\n"
      "broken line\n";
  for (const auto& record : mapping_records(42, maps)) {
    file->append(record);
  }
  file->append(name_record(42, 43, "worker"));
  perf_event_attr side_band{};
  side_band.size = sizeof side_band;
  side_band.type = PERF_TYPE_SOFTWARE;
  side_band.config = PERF_COUNT_SW_DUMMY;
  side_band.sample_id_all = 1;
  side_band.sample_type =
      PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  perf_event_attr probe = side_band;
  probe.type = PERF_TYPE_TRACEPOINT;
  probe.config = 1234;
  const std::vector<HitEvents::Described> events = {{.attribute = side_band, .ids = {5}},
                                                    {.attribute = probe, .ids = {6, 7}}};
  const auto done =
      file->finish({.events = events,
                    .build_ids = {{"/opt/a program", std::vector<std::uint8_t>{1, 2, 3, 0xff}}},
                    .command_line = {"ptlens", "record"}});
  ASSERT_TRUE(done) << done.error().one_line();
  const auto recording = perfdata::Recording::open(folder / "perf.data");
  ASSERT_TRUE(recording) << recording.error().one_line();
  ASSERT_EQ(recording->attributes().size(), 2U);
  EXPECT_EQ(recording->attributes()[1].config, 1234U);
  EXPECT_EQ(recording->attributes()[1].ids, (std::vector<std::uint64_t>{6, 7}));
  ASSERT_EQ(recording->mappings().size(), 2U);
  const perfdata::Mapping& code = recording->mappings()[0];
  EXPECT_EQ(code.pid, 42);
  EXPECT_EQ(code.start, 0x55d0c0a01000U);
  EXPECT_EQ(code.length, 0x4000U);
  EXPECT_EQ(code.file_offset, 0x1000U);
  EXPECT_EQ(code.path, "/opt/a program");
  EXPECT_EQ(recording->mappings()[1].path, "[vdso]");
  ASSERT_EQ(recording->thread_names().size(), 1U);
  EXPECT_EQ(recording->thread_names()[0].tid, 43);
  EXPECT_EQ(recording->thread_names()[0].name, "worker");
  ASSERT_EQ(recording->build_ids().size(), 1U);
  EXPECT_EQ(recording->build_ids()[0].path, "/opt/a program");
  EXPECT_EQ(recording->build_ids()[0].build_id, (std::vector<std::uint8_t>{1, 2, 3, 0xff}));
  EXPECT_EQ(recording->command_line(), (std::vector<std::string>{"ptlens", "record"}));
  EXPECT_FALSE(recording->hostname().empty());
}

TEST(DataFile, AFullDiskIsAnError) {
  auto file = DataFile::create("/dev/full");
  ASSERT_TRUE(file);
  file->append(name_record(1, 1, "x"));
  EXPECT_FALSE(file->finish({}));
  EXPECT_FALSE(DataFile::create("/nowhere/perf.data"));
}

TEST(RecordOrder, MergesBuffersByTime) {
  RecordOrder order;
  std::string taken;
  const auto take = [&taken](std::span<const std::byte> record) {
    taken += static_cast<char>(record.front());
  };
  const auto add = [&order](char name, std::uint64_t time_ns) {
    order.add(std::as_bytes(std::span(&name, 1)), time_ns);
  };
  add('b', 20); // of one CPU
  add('d', 40);
  add('a', 10); // of the other, which may still have earlier records
  order.hand_on(take);
  EXPECT_EQ(taken, "");
  add('c', 30);
  add('f', 60);
  add('e', 50);
  order.hand_on(take);
  EXPECT_EQ(taken, "abcd");
  order.hand_on_all(take);
  EXPECT_EQ(taken, "abcdef");
}

} // namespace
} // namespace ptlens::record::test
