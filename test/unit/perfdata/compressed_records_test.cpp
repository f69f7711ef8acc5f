// Records compressed with zstd, as perf does (`perf record -z`).
#include "perfdata/recording.hpp"
#include "perfdata_test_support.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

#include <string>
#include <vector>

namespace ptlens::perfdata {
namespace {

using test::Bytes;
using test::Event;
using test::PerfDataBuilder;

std::vector<std::byte> pack(std::span<const std::byte> plain) {
  std::vector<std::byte> packed(ZSTD_compressBound(plain.size()));
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 1));
  return packed;
}

Bytes compressed(std::uint32_t type, std::span<const std::byte> packed) {
  Bytes body;
  if (type == 83) {
    body.add(std::uint64_t{packed.size()});
  }
  body.add(packed);
  return test::record(type, 0, type == 83 ? body.zeros((8 - packed.size() % 8) % 8) : body);
}

TEST(CompressedRecords, DecompressesRecordsThatSpanSeveralPayloads) {
  Event event;
  event.sample_type |= PERF_SAMPLE_RAW;
  const auto raw = some_bytes(20, 9);
  Bytes plain;
  plain.add(test::record(PERF_RECORD_COMM, 0,
                         Bytes().add(1).add(2).text("packed").add(test::trailer(event, {}))));
  Bytes sample;
  sample.add(1UL).add(0x77UL).add(5).add(6).add(9UL).add(0).add(0);
  plain.add(test::record(PERF_RECORD_SAMPLE, 0, sample.add(20U).add(raw)));
  const auto packed = pack(plain.bytes());
  for (const std::uint32_t type : {81U, 83U}) {
    for (std::size_t cut = 1; cut < packed.size(); ++cut) {
      PerfDataBuilder builder({event});
      builder.raw(compressed(type, std::span(packed).first(cut)));
      builder.raw(compressed(type, std::span(packed).subspan(cut)));
      const Recording recording = opened(builder);
      ASSERT_EQ(recording.thread_names().size(), 1U);
      ASSERT_EQ(recording.thread_names()[0].name, "packed");
      ASSERT_EQ(recording.samples().size(), 1U);
      ASSERT_TRUE(std::ranges::equal(recording.samples()[0].raw, raw));
      ASSERT_EQ(recording.record_counts()[type], 2U);
      ASSERT_EQ(recording.record_counts()[PERF_RECORD_SAMPLE], 1U);
    }
  }
}

TEST(CompressedRecords, RefusesAStreamThatIsNotZstd) {
  const Bytes plain = test::record(PERF_RECORD_COMM, 0, Bytes().zeros(48));
  const auto cut_off = pack(plain.bytes().first(20));
  EXPECT_NE(refused(PerfDataBuilder().raw(compressed(81, cut_off))).message.find("truncated"),
            std::string::npos);
  const Error garbage = refused(PerfDataBuilder().raw(compressed(81, some_bytes(40, 1))));
  EXPECT_NE(garbage.message.find("zstd"), std::string::npos) << garbage.message;
  EXPECT_EQ(garbage.offset, PerfDataBuilder().data_offset());
  const auto nested = pack(compressed(81, cut_off).bytes());
  EXPECT_EQ(refused(PerfDataBuilder().raw(compressed(81, nested))).kind, Error::Kind::bad_input);
}

TEST(CompressedRecords, RefusesAStreamThatDecompressesToTooMuch) {
  // 32 MiB of the same 8-byte record (an unknown type): zstd compresses them several thousand
  // times.
  Bytes one = test::record(40, 0, {});
  std::vector<std::byte> plain;
  for (std::size_t i = 0; i < (32U << 20U) / one.size(); ++i) {
    plain.insert(plain.end(), one.bytes().begin(), one.bytes().end());
  }
  const auto packed = pack(plain);
  ASSERT_LT(packed.size(), 60000U);
  const Error error = refused(PerfDataBuilder().raw(compressed(81, packed)));
  EXPECT_EQ(error.kind, Error::Kind::bad_input);
  EXPECT_NE(error.message.find("256 times"), std::string::npos) << error.message;
}

} // namespace
} // namespace ptlens::perfdata
