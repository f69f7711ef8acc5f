// Address spaces rebuilt from hand-written side-band records, from this process's own
// /proc/self/maps, and from a real recording.
#include "perfdata/perf_data_builder.hpp"
#include "symbols/address_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <linux/perf_event.h>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace ptlens::symbols::test {
namespace {

using ptlens::test::Id;
using ptlens::test::PerfDataBuilder;
using ptlens::test::TemporaryFile;

struct Rebuilt {
  explicit Rebuilt(const PerfDataBuilder& builder) {
    const TemporaryFile file(builder.build());
    auto opened = perfdata::Recording::open(file.path());
    if (!opened) {
      throw std::runtime_error(opened.error().one_line());
    }
    spaces.emplace(*opened, binaries);
  }
  BinaryFinder binaries{BinaryFinder::Options{}};
  std::optional<AddressSpaces> spaces;

  [[nodiscard]] std::string path_at(std::int32_t pid, std::uint64_t time,
                                    std::uint64_t address) const {
    const MappedCode* code = spaces->at(pid, time).find(address);
    return code == nullptr ? "" : code->path;
  }
};

Id at(std::uint64_t time, std::int32_t pid = 10) {
  return {.time = time, .pid = pid, .tid = pid};
}

TEST(AddressSpaces, NewMappingsHideWhatTheyOverlap) {
  PerfDataBuilder builder;
  builder.mmap2(10, 0x10000, 0x8000, 0x2000, "/no/a", at(100));
  builder.mmap2(10, 0x12000, 0x2000, 0, "//anon", at(200));
  builder.mmap2(10, 0x17000, 0x4000, 0x1000, "/no/b", at(300));
  const Rebuilt rebuilt(builder);
  EXPECT_EQ(rebuilt.path_at(10, 150, 0x12800), "/no/a");
  EXPECT_EQ(rebuilt.path_at(10, 200, 0x12800), "//anon");
  EXPECT_EQ(rebuilt.path_at(10, 250, 0x11fff), "/no/a");
  EXPECT_EQ(rebuilt.path_at(10, 250, 0x14000), "/no/a");
  EXPECT_EQ(rebuilt.path_at(10, 250, 0x17fff), "/no/a");
  EXPECT_EQ(rebuilt.path_at(10, 300, 0x17000), "/no/b");
  EXPECT_EQ(rebuilt.path_at(10, 300, 0x1afff), "/no/b");
  EXPECT_EQ(rebuilt.path_at(10, 300, 0x1b000), "");
  EXPECT_EQ(rebuilt.path_at(10, 300, 0xffff), "");
  // The remainder after a hole still has the right file offset.
  const MappedCode* right = rebuilt.spaces->at(10, 300).find(0x14000);
  ASSERT_NE(right, nullptr);
  EXPECT_EQ(right->start, 0x14000U);
  EXPECT_EQ(right->end, 0x17000U);
  EXPECT_EQ(right->file_offset, 0x6000U);
  // Before the first record, the first version counts. Another process has no mappings.
  EXPECT_EQ(rebuilt.path_at(10, 1, 0x12800), "/no/a");
  EXPECT_TRUE(rebuilt.spaces->at(11, 300).code.empty());
  EXPECT_NE(rebuilt.spaces->at(10, 150).serial, rebuilt.spaces->at(10, 300).serial);
  EXPECT_EQ(rebuilt.spaces->at(10, 300).serial, rebuilt.spaces->at(10, 999).serial);
}

TEST(AddressSpaces, ForkCopiesAndExecDrops) {
  PerfDataBuilder builder;
  builder.mmap2(10, 0x10000, 0x1000, 0, "/no/shell", at(100));
  builder.fork(20, 10, 20, 10, at(200));
  builder.fork(10, 10, 11, 10, at(210)); // a thread
  builder.mmap2(10, 0x20000, 0x1000, 0, "/no/late", at(250));
  builder.comm(20, 20, "renamed", false, at(280, 20));
  builder.comm(20, 20, "ls", true, at(300, 20));
  builder.mmap2(20, 0x40000, 0x1000, 0, "/no/ls", at(310, 20));
  builder.exit(20, 20, at(400, 20));
  const Rebuilt rebuilt(builder);
  EXPECT_EQ(rebuilt.path_at(20, 290, 0x10000), "/no/shell");
  EXPECT_EQ(rebuilt.path_at(20, 290, 0x20000), "");
  EXPECT_EQ(rebuilt.path_at(20, 310, 0x10000), "");
  EXPECT_EQ(rebuilt.path_at(20, 310, 0x40000), "/no/ls");
  EXPECT_EQ(rebuilt.path_at(20, 500, 0x40000), "/no/ls");
  EXPECT_EQ(rebuilt.path_at(10, 500, 0x10000), "/no/shell");
  EXPECT_EQ(rebuilt.path_at(10, 500, 0x20000), "/no/late");
  EXPECT_EQ(rebuilt.path_at(10, 500, 0x40000), "");
}

TEST(AddressSpaces, SeparateTheKernel) {
  PerfDataBuilder builder;
  ptlens::test::Bytes body;
  body.add(std::int32_t{-1}).add(std::int32_t{0}).add(std::uint64_t{0xffffffff81000000});
  body.add(std::uint64_t{0x1000000}).add(std::uint64_t{0xffffffff81000000});
  builder.add(PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, body.text("[kernel.kallsyms]_text"),
              {.time = 0, .pid = -1, .tid = 0});
  builder.mmap2(10, 0x10000, 0x1000, 0, "/no/a", at(100));
  const Rebuilt rebuilt(builder);
  EXPECT_EQ(rebuilt.path_at(-1, 100, 0xffffffff81234567), "[kernel.kallsyms]_text");
  EXPECT_EQ(rebuilt.path_at(10, 100, 0xffffffff81234567), "");
  ASSERT_EQ(rebuilt.binaries.missing().size(), 1U);
  EXPECT_EQ(rebuilt.binaries.missing()[0].path, "/no/a");
}

TEST(AddressSpaces, StaySmallForJustInTimeCompilers) {
  PerfDataBuilder builder;
  builder.mmap2(10, 0x10000, 0x1000, 0, "/no/a", at(100));
  for (std::uint64_t count = 0; count < 20000; ++count) {
    builder.mmap2(10, 0x100000 + count * 0x2000, 0x1000, 0, "//anon", at(200 + count));
  }
  builder.mmap2(10, 0x10000, 0x1000, 0, "/no/b", at(50000));
  const Rebuilt rebuilt(builder);
  EXPECT_EQ(rebuilt.path_at(10, 40000, 0x10000), "/no/a");
  EXPECT_EQ(rebuilt.spaces->at(10, 150).serial, rebuilt.spaces->at(10, 20100).serial);
  EXPECT_EQ(rebuilt.path_at(10, 40000, 0x100000), "//anon");
  EXPECT_EQ(rebuilt.spaces->at(10, 40000).find(0x100000)->binary, nullptr);
}

TEST(AddressSpaces, SurviveDegenerateMappings) {
  PerfDataBuilder builder;
  builder.mmap2(10, UINT64_MAX - 0xfff, 0x2000, 0, "/no/wraps", at(100));
  builder.mmap2(10, 0x1000, 0, 0, "/no/empty", at(110));
  builder.mmap2(10, 0, UINT64_MAX, UINT64_MAX, "/no/everything", at(120));
  builder.mmap2(10, 0x5000, 0x1000, 0, "", at(130));
  const Rebuilt rebuilt(builder);
  EXPECT_EQ(rebuilt.path_at(10, 125, 0x1000), "/no/everything");
  EXPECT_EQ(rebuilt.path_at(10, 130, 0x5000), "");
  ASSERT_NE(rebuilt.spaces->at(10, 130).find(0x5000), nullptr);
  EXPECT_EQ(rebuilt.path_at(10, 130, 0x6000), "/no/everything");
}

int here(int value) {
  return value + 1;
}

// The kernel's own table for this process: with the bias of each executable file, known functions
// are at their addresses.
TEST(AddressSpaces, PlaceTheFunctionsOfThisProcess) {
  PerfDataBuilder builder;
  std::ifstream maps("/proc/self/maps");
  std::size_t files = 0;
  for (std::string line; std::getline(maps, line);) {
    // "START-END PERMISSIONS OFFSET DEVICE INODE PATH"
    std::istringstream fields(line);
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t offset = 0;
    char dash = 0;
    std::string permissions;
    std::string device;
    std::string inode;
    std::string path;
    fields >> std::hex >> start >> dash >> end >> permissions >> offset >> device >> inode;
    std::getline(fields >> std::ws, path);
    if (permissions == "r-xp" && path.starts_with('/')) {
      builder.mmap2(10, start, end - start, offset, path, at(100));
      ++files;
    }
  }
  ASSERT_GT(files, 3U);
  const Rebuilt rebuilt(builder);
  const AddressSpaceVersion& space = rebuilt.spaces->at(10, 100);
  EXPECT_EQ(space.code.size(), files);
  const auto expect_at = [&](std::uint64_t address, std::string_view name) {
    const MappedCode* code = space.find(address);
    ASSERT_NE(code, nullptr);
    ASSERT_NE(code->binary, nullptr) << code->path;
    const auto index = code->binary->function_entry(address - code->bias);
    ASSERT_TRUE(index) << name;
    const std::vector<std::uint32_t> found = code->binary->find(name);
    EXPECT_TRUE(std::ranges::find(found, *index) != found.end())
        << code->binary->functions()[*index].name;
  };
  expect_at(reinterpret_cast<std::uint64_t>(&here), "here");
  expect_at(reinterpret_cast<std::uint64_t>(&std::terminate), "std::terminate");
  expect_at(reinterpret_cast<std::uint64_t>(&::qsort), "qsort");
  EXPECT_EQ(rebuilt.binaries.missing().size(), 0U);
}

TEST(RealRecordings, HaveTheirBinariesWhereTheyWereMapped) {
  const std::filesystem::path folder =
      std::filesystem::path(PTLENS_SOURCE_ROOT) / "../shared/traces/lldb-multi-file";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "the real recordings are not on this machine";
  }
  auto recording = perfdata::Recording::open((folder / "perf.data").string());
  ASSERT_TRUE(recording) << recording.error().one_line();
  BinaryFinder binaries({.symfs = (folder / "symfs").string(), .recording_folder = ""});
  const AddressSpaces spaces(*recording, binaries);
  const AddressSpaceVersion& space = spaces.at(815455, 0);
  // truth/perf-branches.txt: 40066f in main; 7ffff7bd96e8 in foo, 7ffff7bd95d0 bar@plt;
  // 7ffff79d7690 bar.
  for (const auto& [address, name] : {std::pair<std::uint64_t, std::string>{0x40066f, "main"},
                                      {0x7ffff7bd96e8, "foo()"},
                                      {0x7ffff7bd95d0, "bar@plt"},
                                      {0x7ffff79d7690, "bar()"}}) {
    const MappedCode* code = space.find(address);
    ASSERT_NE(code, nullptr) << name;
    ASSERT_NE(code->binary, nullptr) << name;
    const auto index = code->binary->function_at(address - code->bias);
    ASSERT_TRUE(index) << name;
    EXPECT_EQ(code->binary->functions()[*index].name, name);
  }
  EXPECT_EQ(space.find(0x7ffff7df1950), nullptr); // the dynamic linker is not among the files
}

} // namespace
} // namespace ptlens::symbols::test
