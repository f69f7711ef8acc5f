// The records of one thread.
#include "uftrace/record_stream.hpp"
#include "uftrace_folder.hpp"

#include <gtest/gtest.h>

#include <span>

namespace ptlens::uftrace {
namespace {

using test::entry;
using test::leave;
using test::lost;
using test::number;

constexpr std::uint64_t f = 0x560000001000;
constexpr std::uint64_t g = 0x560000002000;
constexpr std::uint64_t t = 1'000'000;

struct Read {
  std::vector<Record> records;
  std::optional<Error> error;
};

Read read(const std::string& bytes) {
  RecordStream stream(std::as_bytes(std::span(bytes)), "/data/1.dat");
  Read all;
  Record record;
  while (true) {
    const auto more = stream.next(record);
    if (!more) {
      all.error = more.error();
      return all;
    }
    if (!*more) {
      return all;
    }
    all.records.push_back(record);
  }
}

TEST(UftraceRecords, EntriesAndExitsHaveTimeDepthAndAddress) {
  const Read all =
      read(entry(t, 0, f) + entry(t + 1, 1, g) + leave(t + 2, 1, g) + lost(7) + entry(t + 9, 1, g));
  EXPECT_FALSE(all.error);
  ASSERT_EQ(all.records.size(), 5U);
  EXPECT_EQ(all.records[1].kind, Record::Kind::entry);
  EXPECT_EQ(all.records[1].time_ns, t + 1);
  EXPECT_EQ(all.records[1].depth, 1U);
  EXPECT_EQ(all.records[1].address, g);
  EXPECT_EQ(all.records[2].kind, Record::Kind::exit);
  EXPECT_EQ(all.records[3].kind, Record::Kind::lost);
  EXPECT_EQ(all.records[3].address, 7U);
}

// 1,023 is the deepest level; 48 bits of address.
TEST(UftraceRecords, FieldsHaveTheirFullWidth) {
  const Read all = read(entry(UINT64_MAX, 1023, 0xffffffffffff));
  ASSERT_EQ(all.records.size(), 1U);
  EXPECT_EQ(all.records[0].time_ns, UINT64_MAX);
  EXPECT_EQ(all.records[0].depth, 1023U);
  EXPECT_EQ(all.records[0].address, 0xffffffffffffU);
}

TEST(UftraceRecords, ArgumentsAreSkippedWhateverTheirLength) {
  for (std::size_t words = 0; words <= 128; ++words) {
    std::string values;
    for (std::size_t word = 0; word < words; ++word) {
      values += number(word % 3 == 0 ? t + word : word * 0x0101010101010101U);
    }
    const Read all = read(entry(t, 0, f) + entry(t + 10, 1, g, true) + values +
                          leave(t + 20, 1, g, true) + number(42) + leave(t + 30, 0, f));
    ASSERT_FALSE(all.error) << words << ": " << all.error->one_line();
    ASSERT_EQ(all.records.size(), 4U) << words;
    EXPECT_EQ(all.records[2].time_ns, t + 20);
    EXPECT_EQ(all.records[3].time_ns, t + 30);
  }
}

// Values that look like records of another depth, function or time are values.
TEST(UftraceRecords, ArgumentsThatLookLikeRecordsAreSkipped) {
  const std::string values = leave(t + 15, 1, f) + entry(t - 500, 2, f) + entry(t + 15, 9, f);
  const Read all = read(entry(t, 0, f) + entry(t + 10, 1, g, true) + values + leave(t + 20, 1, g) +
                        leave(t + 30, 0, f));
  ASSERT_FALSE(all.error);
  ASSERT_EQ(all.records.size(), 4U);
  EXPECT_EQ(all.records[2].time_ns, t + 20);
}

TEST(UftraceRecords, EventsHaveTheirLength) {
  constexpr std::uint64_t page_fault = 100'002; // EVENT_ID_READ_PAGE_FAULT
  const std::string data = number(16, 2) + number(1) + number(2) + std::string(6, '\0');
  const Read all =
      read(entry(t, 0, f) + test::record(t, 3, 0, page_fault, true) + data + leave(t + 5, 0, f));
  ASSERT_FALSE(all.error);
  ASSERT_EQ(all.records.size(), 3U);
  EXPECT_EQ(all.records[1].kind, Record::Kind::event);
  EXPECT_EQ(all.records[1].address, page_fault);
}

TEST(UftraceRecords, BrokenRecordsAreRefusedWithTheirOffset) {
  const std::string good = entry(t, 0, f);
  const auto check = [&](const std::string& bad, std::uint64_t offset, const char* reason) {
    const Read all = read(good + bad);
    ASSERT_TRUE(all.error) << reason;
    EXPECT_EQ(all.error->kind, Error::Kind::bad_input);
    EXPECT_EQ(all.error->file, "/data/1.dat");
    EXPECT_EQ(all.error->offset, offset) << reason;
    EXPECT_NE(all.error->message.find(reason), std::string::npos) << all.error->message;
    EXPECT_NE(all.error->remedy, "");
  };
  check(good.substr(0, 15), 16, "cut off");
  check(number(t) + number(0), 16, "magic");
  check(test::record(t, 3, 0, 100'002, true), 32, "cut off");
  check(test::record(t, 3, 0, 100'002, true) + number(65'535, 2) + std::string(30, 'x'), 32,
        "do not fit");
  check(entry(t + 1, 1, g, true) + std::string(4096, 'x') + leave(t + 2, 1, g), 32,
        "no record follows");
}

// Any bytes: the reader ends, in bounds, with records or an error.
TEST(UftraceRecords, ArbitraryBytesEnd) {
  std::uint64_t state = 88172645463325252U; // Marsaglia, "Xorshift RNGs"
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = entry(t, 0, f, round % 2 == 0);
    for (int word = 0; word < 40; ++word) {
      state ^= state << 13U;
      state ^= state >> 7U;
      state ^= state << 17U;
      // Half of the words have the magic number of a record.
      bytes += number(word % 2 == 0 ? state : (state & ~std::uint64_t{0x38}) | 0x28U);
    }
    bytes.resize(bytes.size() - state % 16);
    const Read all = read(bytes);
    EXPECT_LE(all.records.size(), bytes.size() / 16);
  }
}

} // namespace
} // namespace ptlens::uftrace
