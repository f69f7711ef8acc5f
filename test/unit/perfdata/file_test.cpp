// The file around the records (header, attributes, features) and every kind of damage to it.
#include "perfdata/bytes/mapped_file.hpp"
#include "perfdata_test_support.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace ptlens::perfdata {
namespace {

using test::Bytes;
using test::Event;
using test::PerfDataBuilder;
using test::TemporaryFile;

// One of everything that has a length.
PerfDataBuilder small_recording() {
  Event probe{.type = 2, .config = 77, .ids = {5, 6}, .name = "probe:f"};
  probe.sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_CALLCHAIN;
  PerfDataBuilder builder({Event{}, probe});
  builder.time_conv(31, 1076264588, 7)
      .intel_pt_info({8, 31, 1000, 7, 1, 0x400, 0x800, 3, 0, 1, 0x200, 0x3c000, 84, 2, 2, 21, 3},
                     "abc")
      .mmap2(1, 0x1000, 0x1000, 0, "/x", {.time = 1})
      .comm(1, 1, "x", true, {.time = 2})
      .fork(2, 1, 2, 1, {.time = 3})
      .context_switch(true, true, {.time = 4})
      .context_switch_cpu_wide(false, false, 0, 0, {.time = 5})
      .itrace_start(1, 1, {.time = 6})
      .aux(0, 32, 1, {.time = 7})
      .auxtrace(0, -1, 0, 0, 1, some_bytes(32, 1))
      .exit(2, 2, {.time = 8});
  builder.raw(test::record(PERF_RECORD_SAMPLE, 0,
                           Bytes()
                               .add(5UL)
                               .add(0x1000UL)
                               .add(1)
                               .add(1)
                               .add(9UL)
                               .add(0)
                               .add(0)
                               .add(1UL)
                               .add(0x2000UL)
                               .add(12U)
                               .add(some_bytes(12, 2))));
  builder.add(PERF_RECORD_TEXT_POKE, 0,
              Bytes().add(1UL).add(std::uint16_t{2}).add(std::uint16_t{2}).zeros(4), {.time = 9});
  builder.feature_text(3, "host").feature_text(9, "GenuineIntel,6,85,4");
  builder.command_line({"perf", "record", "-e", "intel_pt//"}).event_names();
  return builder.feature(
      2, test::record(0, 0, Bytes().add(-1).add(some_bytes(20, 3)).zeros(4).text("/x")));
}

Error error_of(std::span<const std::byte> bytes) {
  const TemporaryFile file(bytes);
  const auto recording = Recording::open(file.path());
  if (recording) {
    ADD_FAILURE() << "the file was accepted";
    return {};
  }
  EXPECT_EQ(recording.error().file, file.path());
  EXPECT_FALSE(recording.error().remedy.empty());
  EXPECT_EQ(recording.error().one_line().find('\n'), std::string::npos);
  return recording.error();
}

Error error_of(std::string_view text) {
  return error_of(std::as_bytes(std::span(text)));
}

TEST(File, ReadsHeaderAndFeatures) {
  const Recording recording = opened(small_recording());
  ASSERT_EQ(recording.attributes().size(), 2U);
  EXPECT_EQ(recording.attributes()[1].type, 2U);
  EXPECT_EQ(recording.attributes()[1].config, 77U);
  EXPECT_EQ(recording.attributes()[1].name, "probe:f");
  EXPECT_EQ(recording.attributes()[1].ids, (std::vector<std::uint64_t>{5, 6}));
  EXPECT_EQ(recording.hostname(), "host");
  EXPECT_EQ(recording.cpu_id(), "GenuineIntel,6,85,4");
  EXPECT_EQ(recording.command_line(),
            (std::vector<std::string>{"perf", "record", "-e", "intel_pt//"}));
  ASSERT_EQ(recording.build_ids().size(), 1U);
  EXPECT_EQ(recording.build_ids()[0].pid, -1);
  EXPECT_EQ(recording.build_ids()[0].path, "/x");
  EXPECT_EQ(recording.build_ids()[0].build_id.size(), 20U);
}

TEST(File, ReadsAttributesOfAnySize) {
  for (const std::uint64_t size : {64, 72, 112, 128, 136, 256}) {
    Event event{.type = 8, .config = 0x2401, .exclude_kernel = true, .ids = {3, 4}};
    PerfDataBuilder builder({event, Event{.exclude_user = true}});
    builder.attribute_size = size;
    const Recording recording = opened(builder.comm(1, 1, "x", false, {.time = 1}));
    ASSERT_EQ(recording.attributes().size(), 2U) << size;
    EXPECT_EQ(recording.attributes()[0].config, 0x2401U);
    EXPECT_TRUE(recording.attributes()[0].exclude_kernel);
    EXPECT_FALSE(recording.attributes()[0].exclude_user);
    EXPECT_TRUE(recording.attributes()[1].exclude_user);
    EXPECT_EQ(recording.attributes()[0].ids, (std::vector<std::uint64_t>{3, 4}));
  }
}

TEST(File, ReportsFilesThatAreNotRecordings) {
  EXPECT_EQ(error_of("").message, "the file is empty");
  for (const std::string_view text : {"x", "PERFILE3", "#include <vector>\nint main() {}\n"}) {
    const Error error = error_of(text);
    EXPECT_EQ(error.kind, Error::Kind::bad_input);
    EXPECT_EQ(error.message, "this is not a perf.data file");
    EXPECT_EQ(error.offset, 0U);
  }
  const auto missing = Recording::open("/nowhere/perf.data");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, Error::Kind::not_found);
  const auto folder = Recording::open("/tmp");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().kind, Error::Kind::bad_input);
  const auto device = Recording::open("/dev/null");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().kind, Error::Kind::bad_input);
}

TEST(File, DoesNotWaitForAPipe) {
  const TemporaryFile file;
  std::filesystem::remove(file.path());
  ASSERT_EQ(::mkfifo(file.path().c_str(), 0600), 0);
  const auto pipe = Recording::open(file.path());
  ASSERT_FALSE(pipe);
  EXPECT_EQ(pipe.error().kind, Error::Kind::bad_input);
}

TEST(File, RefusesOtherFormatsByName) {
  Bytes big_endian;
  big_endian.add(std::uint64_t{0x50455246494c4532})
      .zeros(96); // PERFILE2 as such a machine writes it
  EXPECT_EQ(error_of(big_endian.bytes()).kind, Error::Kind::unsupported);
  EXPECT_NE(error_of(big_endian.bytes()).message.find("big-endian"), std::string::npos);
  Bytes pipe;
  pipe.add(std::uint64_t{0x32454c4946524550}).add(std::uint64_t{16});
  EXPECT_EQ(error_of(pipe.bytes()).kind, Error::Kind::unsupported);
  EXPECT_NE(error_of(pipe.bytes()).message.find("pipe"), std::string::npos);
  Bytes newer;
  newer.add(std::uint64_t{0x32454c4946524550}).add(std::uint64_t{120}).zeros(104);
  EXPECT_EQ(error_of(newer.bytes()).kind, Error::Kind::unsupported);
  EXPECT_EQ(error_of("PERFFILE and more").kind, Error::Kind::unsupported);
}

TEST(File, RefusesEveryTruncation) {
  const auto whole = small_recording().build();
  const TemporaryFile file;
  for (std::size_t size = 1; size < whole.size(); ++size) {
    file.write(std::span(whole).first(size));
    const auto recording = Recording::open(file.path());
    ASSERT_FALSE(recording) << size;
    ASSERT_EQ(recording.error().kind, Error::Kind::bad_input) << size;
    ASSERT_TRUE(recording.error().offset.has_value()) << size;
    ASSERT_FALSE(recording.error().remedy.empty()) << size;
  }
  file.write(whole);
  EXPECT_TRUE(Recording::open(file.path()));
}

// A killed perf leaves 0 as the size of the data section, and a last record that ends anywhere.
TEST(File, ReadsTheFileOfAKilledPerf) {
  const PerfDataBuilder builder = small_recording();
  auto bytes = builder.build();
  constexpr std::size_t data_size_field = 48;
  std::uint64_t data_size = 0;
  std::memcpy(&data_size, bytes.data() + data_size_field, sizeof(data_size));
  std::fill_n(bytes.begin() + data_size_field, sizeof(data_size), std::byte{0});
  const std::size_t data_end = builder.data_offset() + data_size;
  const TemporaryFile file;
  std::size_t records = 0;
  for (std::size_t size = builder.data_offset(); size <= data_end; ++size) {
    file.write(std::span(bytes).first(size));
    const auto recording = Recording::open(file.path());
    ASSERT_TRUE(recording) << recording.error().one_line();
    const auto counts = recording->record_counts();
    const auto now = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    ASSERT_GE(now, records);
    records = now;
    ASSERT_EQ(recording->trace_bytes(), 32 * counts[71]); // a chunk is complete or absent
  }
  EXPECT_EQ(records, 13U);
  file.write(std::span(bytes).first(builder.data_offset() - 1));
  EXPECT_FALSE(Recording::open(file.path()));
}

TEST(File, SurvivesFlippedBytes) {
  const auto whole = small_recording().build();
  std::mt19937 random(20240501);
  const TemporaryFile file;
  std::size_t accepted = 0;
  for (int round = 0; round < 6000; ++round) {
    auto bytes = whole;
    const auto flips = 1 + random() % 4;
    for (std::size_t flip = 0; flip < flips; ++flip) {
      // Every second change sets a byte to an extreme value, because wrong lengths do the most
      // harm.
      const auto value = random();
      bytes[random() % bytes.size()] =
          (value & 1U) != 0 ? std::byte{0xff} : static_cast<std::byte>(value >> 8U);
    }
    file.write(bytes);
    const auto recording = Recording::open(file.path());
    if (!recording) {
      ASSERT_FALSE(recording.error().one_line().empty());
      continue;
    }
    ++accepted;
    for (const AuxBuffer& buffer : recording->aux_buffers()) {
      for (const AuxChunk& chunk : buffer.chunks) {
        ASSERT_EQ(recording->bytes(chunk).size(), chunk.size);
      }
    }
  }
  EXPECT_GT(accepted, 0U);
}

TEST(File, RefusesAHundredEventsThatShareAllIds) {
  std::vector<Event> events(100);
  PerfDataBuilder builder(events);
  auto bytes = builder.build();
  const std::size_t first = 104 + 100 * 8;
  for (std::size_t event = 0; event < events.size(); ++event) {
    const std::size_t entry = first + event * 144 + 128;
    const std::uint64_t all[2] = {0, bytes.size() / 8 * 8};
    std::memcpy(bytes.data() + entry, all, sizeof(all));
  }
  EXPECT_NE(error_of(bytes).message.find("overlap"), std::string::npos);
}

TEST(File, NamesTheRecordWithTheWrongLength) {
  PerfDataBuilder builder;
  builder.comm(1, 1, "x", false, {.time = 1});
  const Error error = refused(builder.raw(test::record(PERF_RECORD_AUX, 0, Bytes().zeros(16))));
  const std::uint64_t comm_size = 8 + 16 + 32; // header, body, trailer
  EXPECT_EQ(error.offset, builder.data_offset() + comm_size);
  EXPECT_EQ(error.message, "AUX record is shorter than its sample id");
  const Error trace =
      refused(PerfDataBuilder().raw(test::record(71, 0, Bytes().add(~std::uint64_t{0}).zeros(32))));
  EXPECT_EQ(trace.kind, Error::Kind::bad_input);
  const Error two_owners = refused(PerfDataBuilder()
                                       .auxtrace(0, -1, 1, 0, 0, some_bytes(8, 1))
                                       .auxtrace(0, -1, 2, 8, 0, some_bytes(8, 1)));
  EXPECT_NE(two_owners.message.find("cpu 2"), std::string::npos) << two_owners.message;
}

// Returns the number of bytes of a mapping that are in this process's memory, as the kernel reports
// it.
std::size_t resident_bytes(const std::byte* mapping) {
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') < line.find(' ')) {
      here = std::stoull(line, nullptr, 16) == reinterpret_cast<std::uintptr_t>(mapping); // NOLINT
    } else if (here && line.starts_with("Rss:")) {
      return 1024 * std::stoull(line.substr(line.find_first_of("0123456789")));
    }
  }
  return 0;
}

TEST(MappedFiles, ReleaseTheMemoryOfReadPages) {
  constexpr std::size_t size = std::size_t{8} << 20U;
  std::vector<std::byte> bytes(size);
  for (std::size_t at = 0; at < size; ++at) {
    bytes[at] = static_cast<std::byte>(at % 251);
  }
  const TemporaryFile large(bytes);
  const auto file = MappedFile::open(large.path());
  ASSERT_TRUE(file);
  const auto sum = [&file] {
    return std::accumulate(
        file->bytes().begin(), file->bytes().end(), std::uint64_t{0},
        [](std::uint64_t all, std::byte byte) { return all + std::to_integer<unsigned>(byte); });
  };
  const std::uint64_t before = sum();
  EXPECT_EQ(resident_bytes(file->bytes().data()), size);
  file->forget(file->bytes().subspan(100, size / 2));
  EXPECT_LT(resident_bytes(file->bytes().data()), size / 2 + 8192);
  const std::byte elsewhere{};
  file->forget(std::span(&elsewhere, 1)); // not part of the mapping
  EXPECT_EQ(sum(), before);
}

} // namespace
} // namespace ptlens::perfdata
