// Damaged and malicious ELF files cause an error or an answer, never a crash or a hang.
#include "symbols/compiled_programs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <random>

namespace ptlens::symbols::test {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Calls every function of a Binary.
void use(const std::string& path) {
  const Result<std::shared_ptr<const Binary>> opened = Binary::open(path);
  if (!opened) {
    EXPECT_EQ(opened.error().file, path);
    EXPECT_FALSE(opened.error().message.empty());
    EXPECT_FALSE(opened.error().one_line().contains('\n'));
    return;
  }
  const Binary& binary = **opened;
  const std::span<const Function> functions = binary.functions();
  constexpr std::size_t most = 40;
  for (std::uint32_t index = 0; index < std::min(functions.size(), most); ++index) {
    const Function& function = functions[index];
    EXPECT_EQ(binary.function_entry(function.address), index);
    for (const AddressRange& range : function.ranges) {
      EXPECT_LE(range.low, range.high);
    }
    (void)binary.exits(index);
    (void)binary.direct_callees(index);
    (void)binary.line_at(function.address);
    (void)binary.call_before(function.address + 9);
    (void)binary.stub_target(index);
  }
  for (const InlinedInstance& instance : binary.inlined("twice")) {
    EXPECT_FALSE(instance.ranges.empty());
  }
  (void)binary.find("main");
  (void)binary.nearest_names("mian", 2);
  (void)binary.has_source("damaged.cpp");
  (void)binary.find_at_line("damaged.cpp", 3);
  (void)binary.function_at(UINT64_MAX);
  (void)binary.code_at(UINT64_MAX);
  (void)binary.call_before(0);
}

constexpr std::string_view small_program = R"(
#include <cstdlib>
static int twice(int x) { return x * 2; }
int check(int x) {
  if (x < 0) {
    std::abort();
  }
  return twice(x);
}
int main(int argc, char**) { return check(argc); }
)";

class Damaged : public testing::Test {
protected:
  void SetUp() override {
    whole_ = read_file(
        folder_.compile("damaged", small_program, {"-O2", "-gdwarf-5", "-Wl,--build-id=sha1"}));
    ASSERT_GT(whole_.size(), 10000U);
  }
  TemporaryFolder folder_;
  std::string whole_;
};

TEST_F(Damaged, ByTruncationIsRefusedWithAnOffset) {
  std::size_t refused = 0;
  for (std::size_t size = 0; size < whole_.size(); size += size < 1024 ? 13 : 211) {
    const std::string path = folder_.write("cut", whole_.substr(0, size));
    const auto opened = Binary::open(path);
    // The section headers come last, so every truncation loses some.
    ASSERT_FALSE(opened) << size;
    EXPECT_EQ(opened.error().kind, Error::Kind::bad_input) << size;
    EXPECT_TRUE(opened.error().offset) << size;
    EXPECT_FALSE(opened.error().remedy.empty()) << size;
    ++refused;
  }
  EXPECT_GT(refused, 100U);
}

TEST_F(Damaged, ByFlippedBytesNeverCrashes) {
  std::mt19937 random(20240611);
  constexpr int rounds = 1500;
  for (int round = 0; round < rounds; ++round) {
    std::string bytes = whole_;
    const int flips = 1 + static_cast<int>(random() % 12);
    for (int flip = 0; flip < flips; ++flip) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    SCOPED_TRACE(round);
    use(folder_.write("flipped", bytes));
  }
}

// Changes headers, symbol tables, the unwind table and debug sections.
TEST_F(Damaged, InItsTablesNeverCrashes) {
  Elf64_Ehdr header = {};
  std::memcpy(&header, whole_.data(), sizeof(header));
  std::mt19937 random(42);
  const std::size_t headers = header.e_shnum;
  for (int round = 0; round < 1500; ++round) {
    std::string bytes = whole_;
    Elf64_Shdr section = {};
    const std::size_t which = random() % headers;
    std::memcpy(&section, whole_.data() + header.e_shoff + which * sizeof(section),
                sizeof(section));
    for (int flip = 0; flip < 3; ++flip) {
      std::size_t at = header.e_shoff + random() % (headers * sizeof(section));
      if (round % 3 == 1) {
        at = random() % (sizeof(header) + header.e_phnum * sizeof(Elf64_Phdr));
      } else if (round % 3 == 2 && section.sh_type != SHT_NOBITS && section.sh_size > 0) {
        at = section.sh_offset + random() % section.sh_size;
      }
      static constexpr char values[] = {0, 1, 0x7f, static_cast<char>(0x80),
                                        static_cast<char>(0xff)};
      bytes[at] = values[random() % std::size(values)];
    }
    SCOPED_TRACE(round);
    use(folder_.write("flipped", bytes));
  }
}

TEST(Hostile, FilesOfOtherKindsAreReported) {
  const TemporaryFolder folder;
  const auto error_of = [](const std::string& path) {
    const auto opened = Binary::open(path);
    return opened ? Error{} : opened.error();
  };
  EXPECT_EQ(error_of(folder / "absent").kind, Error::Kind::not_found);
  EXPECT_EQ(error_of(folder.write("empty", "")).kind, Error::Kind::bad_input);
  EXPECT_EQ(error_of(folder.write("text", "#!/bin/sh\necho hello\n")).message, "not an ELF file");
  EXPECT_EQ(error_of("/dev/null").message, "not a regular file");
  EXPECT_EQ(error_of(folder / "").kind, Error::Kind::bad_input); // a folder
  const std::string source = folder.write("unit.cpp", "int unit() { return 1; }\n");
  ASSERT_EQ(run_command({"g++", "-c", "-o", folder / "unit.o", source}).status, 0);
  EXPECT_EQ(error_of(folder / "unit.o").kind, Error::Kind::unsupported);
  std::string other = read_file(folder.compile("program", "int main() {}\n", {"-O0"}));
  other[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_AARCH64);
  EXPECT_EQ(error_of(folder.write("arm", other)).kind, Error::Kind::unsupported);
}

TEST(Hostile, AFileReplacedAfterOpeningReturnsNothingOfTheNewOne) {
  const TemporaryFolder folder;
  const std::string path = folder.compile("program", small_program, {"-O0", "-g"});
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  folder.write("program", "now something else\n");
  EXPECT_TRUE(binary->functions().empty());
  ASSERT_FALSE(binary->code_segments().empty());
  EXPECT_TRUE(binary->code_at(binary->code_segments()[0].address).empty());
  EXPECT_FALSE(binary->line_at(binary->code_segments()[0].address));
}

} // namespace
} // namespace ptlens::symbols::test
