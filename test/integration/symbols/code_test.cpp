// Calls, exits and callees compared with objdump; addresses and file offsets compared with readelf.
#include "symbols/compiled_programs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>

namespace ptlens::symbols::test {
namespace {

bool is_jump(const DisassembledLine& line) {
  return line.mnemonic.starts_with('j');
}

// Compares the rets, jumps out and callees of every function with the disassembly.
void expect_code_as_objdump_says(const std::string& path) {
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  struct Expected {
    std::set<std::uint64_t> rets;
    std::set<std::uint64_t> jumps_out;
    std::set<std::uint64_t> callees;
  };
  std::map<std::uint32_t, Expected> expected;
  const std::vector<DisassembledLine> lines = objdump(path);
  std::size_t calls = 0;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const DisassembledLine& line = lines[at];
    const auto index = binary->function_at(line.address);
    if (!index) {
      continue;
    }
    Expected& of_function = expected[*index];
    if (line.mnemonic == "ret") {
      of_function.rets.insert(line.address);
    }
    const bool out = line.target && binary->function_at(*line.target) != index;
    if (is_jump(line) && out) {
      of_function.jumps_out.insert(line.address);
    }
    if (line.target && (line.mnemonic == "call" || (is_jump(line) && out)) &&
        binary->function_entry(*line.target)) {
      of_function.callees.insert(*line.target);
    }
    // Each check that there is no call walks the function, so only some instructions are checked.
    constexpr std::size_t stride = 64;
    const bool ask = line.mnemonic == "call" || at % stride == 0;
    if (ask && at + 1 < lines.size() && lines[at + 1].function == line.function) {
      const auto before = binary->call_before(lines[at + 1].address);
      EXPECT_EQ(before.has_value(), line.mnemonic == "call") << line.text;
      if (before) {
        EXPECT_EQ(*before, line.address);
        ++calls;
      }
    }
  }
  EXPECT_GT(calls, 5U);
  for (const auto& [index, of_function] : expected) {
    const Function& function = binary->functions()[index];
    std::set<std::uint64_t> rets;
    std::set<std::uint64_t> jumps;
    std::vector<std::uint64_t> all;
    for (const Exit& exit : binary->exit_points(index)) {
      all.push_back(exit.address);
      if (exit.kind == Exit::Kind::ret) {
        rets.insert(exit.address);
      } else if (exit.kind != Exit::Kind::indirect_jump) {
        jumps.insert(exit.address);
      }
    }
    EXPECT_EQ(rets, of_function.rets) << function.name;
    EXPECT_EQ(jumps, of_function.jumps_out) << function.name;
    EXPECT_EQ(binary->exits(index), all);
    EXPECT_TRUE(std::ranges::is_sorted(all));
    const std::vector<std::uint64_t> callees = binary->direct_callees(index);
    EXPECT_EQ(std::set(callees.begin(), callees.end()), of_function.callees) << function.name;
    EXPECT_TRUE(std::ranges::is_sorted(callees));
  }
}

TEST(Code, OfSmallProgramsEqualsObjdumps) {
  const TemporaryFolder folder;
  expect_code_as_objdump_says(folder.compile("unoptimised", mixed_program, {"-O0"}));
  expect_code_as_objdump_says(folder.compile("optimised", mixed_program, {"-O2", "-g"}));
  expect_code_as_objdump_says(folder.compile("fixed", mixed_program, {"-O3", "-no-pie"}));
  expect_code_as_objdump_says(
      folder.compile("tracked", mixed_program, {"-O2", "-fcf-protection=full"}));
}

TEST(Code, OfThisTestProgramEqualsObjdumps) {
  expect_code_as_objdump_says(std::filesystem::read_symlink("/proc/self/exe").string());
}

constexpr std::string_view jumping_program = R"(
#include <cstdio>
struct Base { virtual int run(int) = 0; };
int (*pointer)(int);
int (*table[4])(int);
__attribute__((noinline)) int other(int x) { return std::printf("%d", x); }
__attribute__((noinline)) int tail(int x) { return other(x + 1); }
__attribute__((noinline)) int through_pointer(int x) { return pointer(x * 2); }
__attribute__((noinline)) int through_table(unsigned which, int x) { return table[which & 3](x); }
__attribute__((noinline)) int through_object(Base* object, int x) { return object->run(x); }
__attribute__((noinline)) int branching(int kind, int x) {
  switch (kind) {
  case 0: return other(x) + 1;
  case 1: return other(x) * 3;
  case 2: return other(x) - 7;
  case 3: return other(x) ^ 5;
  case 4: return other(x) + x;
  case 5: return other(x) * x;
  case 6: return other(x) / 3;
  default: return x;
  }
}
int main(int argc, char**) {
  pointer = other;
  table[argc & 3] = tail;
  return tail(argc) + through_pointer(argc) + through_table(argc, 1) + through_object(nullptr, 1) +
         branching(argc, 3);
}
)";

class Jumps : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(Jumps, ThatLeaveDifferFromSwitches) {
  const std::vector<std::string>& options = GetParam();
  if (!options.front().starts_with('-') && !has_command(options.front())) {
    GTEST_SKIP() << options.front() << " is not installed";
  }
  const TemporaryFolder folder;
  const std::string path = folder.compile("jumping", jumping_program, options);
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  const auto kinds = [&](const char* name) {
    std::set<Exit::Kind> found;
    const std::vector<std::uint32_t> indices = binary->find(name);
    EXPECT_EQ(indices.size(), 1U) << name;
    for (const std::uint32_t index : indices) {
      for (const Exit& exit : binary->exit_points(index)) {
        found.insert(exit.kind);
      }
    }
    return found;
  };
  using Kinds = std::set<Exit::Kind>;
  EXPECT_EQ(kinds("other"), Kinds{Exit::Kind::jump}); // to printf's stub
  EXPECT_EQ(kinds("tail"), Kinds{Exit::Kind::jump});
  EXPECT_EQ(kinds("through_pointer"), Kinds{Exit::Kind::indirect_jump});
  EXPECT_EQ(kinds("through_table"), Kinds{Exit::Kind::indirect_jump});
  EXPECT_EQ(kinds("through_object"), Kinds{Exit::Kind::indirect_jump});
  EXPECT_EQ(kinds("branching"), Kinds{Exit::Kind::ret});
  const auto elsewhere = [&binary](std::string_view name) {
    return binary->calls_elsewhere(binary->find(name).at(0));
  };
  for (const char* const name : {"other", "tail", "branching"}) {
    EXPECT_FALSE(elsewhere(name)) << name;
  }
  for (const char* const name : {"through_pointer", "through_table", "through_object"}) {
    EXPECT_TRUE(elsewhere(name)) << name;
  }
  // The switch really is a table: the disassembly has a jump through a register or memory.
  EXPECT_TRUE(std::ranges::any_of(objdump(path), [](const DisassembledLine& line) {
    return line.function == "_Z9branchingii" && line.mnemonic == "jmp" && line.text.contains('*');
  }));
  const std::vector<std::uint32_t> other = binary->find("other");
  const std::vector<std::uint32_t> tail = binary->find("tail");
  ASSERT_TRUE(other.size() == 1 && tail.size() == 1);
  EXPECT_EQ(binary->direct_callees(tail[0]), std::vector{binary->functions()[other[0]].address});
  const std::vector<Exit> exits = binary->exit_points(tail[0]);
  ASSERT_EQ(exits.size(), 1U);
  EXPECT_EQ(exits[0].target, binary->functions()[other[0]].address);
}

using Options = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(Options, Jumps,
                         testing::Values(Options{"-O2"}, Options{"-O2", "-no-pie", "-fno-pie"},
                                         Options{"-O2", "-fcf-protection=full"},
                                         Options{"clang++-19", "-O2"},
                                         Options{"clang++-19", "-O2", "-no-pie", "-fno-pie"}));

// Without optimisation GCC writes switches in their longest form, and no tail calls.
TEST(Jumps, OfUnoptimisedSwitchesStayInside) {
  const TemporaryFolder folder;
  for (const char* pie : {"-pie", "-no-pie"}) {
    const std::string path = folder.compile(
        "plain", jumping_program, {"-O0", pie, pie == std::string("-pie") ? "-fPIE" : "-fno-pie"});
    const auto binary = open_binary(path);
    ASSERT_TRUE(binary);
    for (const std::uint32_t index : binary->find("branching")) {
      for (const Exit& exit : binary->exit_points(index)) {
        EXPECT_EQ(exit.kind, Exit::Kind::ret) << pie;
      }
      EXPECT_EQ(binary->exits(index).size(), 1U);
    }
  }
}

TEST(Segments, TranslateOffsetsAsReadelfShowsThem) {
  const TemporaryFolder folder;
  const std::vector<std::vector<std::string>> variants = {
      {"-O0"},
      {"-O0", "-no-pie"},
      {"-O0", "-static"},
      {"-O0", "-fuse-ld=gold"},
      {"-O0", "-Wl,-z,noseparate-code"},
      {"-O0", "-no-pie", "-Wl,--section-start=.text=0x5012340"}};
  for (const std::vector<std::string>& options : variants) {
    const std::string path = folder.compile("layout", mixed_program, options);
    const auto binary = open_binary(path);
    ASSERT_TRUE(binary);
    EXPECT_TRUE(binary->is_64_bit());
    std::ifstream stream(path, std::ios::binary);
    const std::string file((std::istreambuf_iterator<char>(stream)), {});
    static const std::regex shape(
        " *LOAD +0x([0-9a-f]+) 0x([0-9a-f]+) 0x[0-9a-f]+ 0x([0-9a-f]+) 0x[0-9a-f]+ (R?[ W]*E?) .*");
    std::size_t code = 0;
    std::size_t translated = 0;
    for (const std::string& line : lines_of(run_command({"readelf", "-lW", path}).output)) {
      std::smatch match;
      if (!std::regex_match(line, match, shape)) {
        continue;
      }
      const std::uint64_t offset = std::stoull(match[1], nullptr, 16);
      const std::uint64_t address = std::stoull(match[2], nullptr, 16);
      const std::uint64_t size = std::stoull(match[3], nullptr, 16);
      ASSERT_GT(size, 0U);
      EXPECT_EQ(binary->address_of_file_offset(offset + size / 2), address + size / 2) << line;
      EXPECT_EQ(binary->file_offset_of_address(address + size / 2), offset + size / 2) << line;
      ++translated;
      const bool executable = match.str(4).contains('E');
      EXPECT_EQ(binary->code_at(address).empty(), !executable) << line;
      if (executable) {
        const std::span<const std::byte> bytes = binary->code_at(address + 3);
        ASSERT_EQ(bytes.size(), size - 3);
        EXPECT_EQ(std::memcmp(bytes.data(), file.data() + offset + 3, bytes.size()), 0);
        EXPECT_TRUE(binary->code_at(address + size).empty());
        ASSERT_LT(code, binary->code_segments().size());
        EXPECT_EQ(binary->code_segments()[code].address, address);
        EXPECT_EQ(binary->code_segments()[code].file_offset, offset);
        EXPECT_EQ(binary->code_segments()[code].file_size, size);
        ++code;
      }
    }
    EXPECT_GE(translated, 2U);
    EXPECT_EQ(code, binary->code_segments().size());
    EXPECT_FALSE(binary->address_of_file_offset(file.size() + 1));
    EXPECT_FALSE(binary->file_offset_of_address(UINT64_MAX));
  }
}

} // namespace
} // namespace ptlens::symbols::test
