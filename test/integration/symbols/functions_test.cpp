// The function table compared with nm, objdump and readelf, for programs from several compilers.
#include "symbols/compiled_programs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <regex>
#include <tuple>

namespace ptlens::symbols::test {
namespace {

bool is_cold(const std::string& name) {
  static const std::regex shape(R"(.*\.cold(\.[0-9]+)?)");
  return std::regex_match(name, shape);
}

// Compares entry, name and extent of every symbol, and addresses inside, with nm.
void expect_functions_as_nm_says(const std::string& path) {
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  const std::vector<NmSymbol> symbols = nm(path);
  ASSERT_GT(symbols.size(), 5U);
  std::map<std::uint64_t, std::set<std::string>> names;
  for (const NmSymbol& symbol : symbols) {
    names[symbol.address].insert(symbol.name);
  }
  std::size_t checked = 0;
  for (const NmSymbol& symbol : symbols) {
    const auto at = binary->function_at(symbol.address);
    if (is_cold(symbol.name)) {
      ASSERT_TRUE(at) << symbol.name;
      EXPECT_FALSE(binary->function_entry(symbol.address)) << symbol.name;
      const std::string owner = symbol.name.substr(0, symbol.name.rfind(".cold"));
      EXPECT_TRUE(names[binary->functions()[*at].address].contains(owner)) << symbol.name;
      continue;
    }
    if (symbol.size == 0) {
      continue; // labels such as __bss_start's neighbours; tested by name below
    }
    ASSERT_TRUE(at) << symbol.name;
    const Function& function = binary->functions()[*at];
    EXPECT_EQ(function.address, symbol.address) << symbol.name;
    EXPECT_EQ(binary->function_entry(symbol.address), at) << symbol.name;
    EXPECT_TRUE(names[symbol.address].contains(function.linkage_name)) << function.linkage_name;
    // The innermost symbol at the last byte is the one that began last.
    const std::uint64_t last = symbol.address + symbol.size - 1;
    std::uint64_t innermost = 0;
    for (const NmSymbol& other : symbols) {
      if (other.address <= last && last < other.address + other.size) {
        innermost = std::max(innermost, other.address);
      }
    }
    const auto at_last = binary->function_at(last);
    ASSERT_TRUE(at_last) << symbol.name;
    const Function& holder = binary->functions()[*at_last];
    EXPECT_TRUE(holder.address == innermost || is_cold(*names[innermost].begin())) << symbol.name;
    ++checked;
  }
  EXPECT_GT(checked, 3U);
  EXPECT_TRUE(std::ranges::is_sorted(binary->functions(), {}, &Function::address));
}

class FunctionsOf
    : public testing::TestWithParam<std::tuple<const char*, std::vector<std::string>>> {};

// Checks that every stub with a label by objdump has the same name here.
std::size_t expect_stubs_as_objdump_says(const std::string& path) {
  std::size_t stubs = 0;
  const auto binary = open_binary(path);
  if (!binary) {
    return stubs;
  }
  static const std::regex label("^([0-9a-f]+) <(.*)@plt>:$");
  for (const std::string& line : lines_of(run_command({"objdump", "-d", path}).output)) {
    std::smatch match;
    if (!line.ends_with("@plt>:") || !std::regex_match(line, match, label)) {
      continue;
    }
    const auto index = binary->function_entry(std::stoull(match[1], nullptr, 16));
    EXPECT_TRUE(index) << line;
    if (index) {
      const Function& function = binary->functions()[*index];
      EXPECT_EQ(function.kind, Function::Kind::plt_stub) << line;
      EXPECT_EQ(function.linkage_name, match.str(2) + "@plt") << line;
      EXPECT_EQ(binary->stub_target(*index), match.str(2)) << line;
      ++stubs;
    }
  }
  return stubs;
}

TEST_P(FunctionsOf, AreThoseOfNmAndObjdump) {
  const auto& [name, options] = GetParam();
  if (!options.front().starts_with('-') && !has_command(options.front())) {
    GTEST_SKIP() << options.front() << " is not installed";
  }
  const TemporaryFolder folder;
  const std::string path = folder.compile(name, mixed_program, options);
  expect_functions_as_nm_says(path);
  const std::size_t stubs = expect_stubs_as_objdump_says(path);
  const bool labelled = std::ranges::find_if(options, [](const std::string& option) {
                          return option == "-fno-plt" || option.starts_with("-static");
                        }) == options.end();
  EXPECT_TRUE(stubs > 2 || !labelled) << stubs;
}

// objdump has no labels for the stubs of static programs. Each stub jumps through a slot; an
// IRELATIVE relocation fills the slot with the address that the IFUNC at its addend chooses.
TEST(Functions, OfStaticProgramsHaveStubsNamedAfterIndirectFunctions) {
  const TemporaryFolder folder;
  for (const char* kind : {"-static", "-static-pie"}) {
    const std::string path = folder.compile("static", mixed_program, {"-O2", kind});
    const auto binary = open_binary(path);
    ASSERT_TRUE(binary);
    std::map<std::uint64_t, std::uint64_t> resolver_of_slot;
    static const std::regex relocation(
        "^([0-9a-f]+) +[0-9a-f]+ R_X86_64_IRELATIV[E]? +([0-9a-f]+) *$");
    for (const std::string& line : lines_of(run_command({"readelf", "-rW", path}).output)) {
      std::smatch match;
      if (std::regex_match(line, match, relocation)) {
        resolver_of_slot[std::stoull(match[1], nullptr, 16)] = std::stoull(match[2], nullptr, 16);
      }
    }
    ASSERT_GT(resolver_of_slot.size(), 5U);
    std::map<std::uint64_t, std::set<std::string>> names;
    for (const NmSymbol& symbol : nm(path)) {
      names[symbol.address].insert(symbol.name);
    }
    static const std::regex jump("jmp +\\*.*# ([0-9a-f]+) <.*");
    std::size_t stubs = 0;
    for (const DisassembledLine& line : objdump(path, ".plt")) {
      std::smatch match;
      if (!std::regex_search(line.text, match, jump)) {
        continue;
      }
      const auto slot = resolver_of_slot.find(std::stoull(match[1], nullptr, 16));
      if (slot == resolver_of_slot.end()) {
        continue; // the first stub of a static PIE leads to the dynamic linker, which is absent
      }
      const auto index = binary->function_entry(line.address);
      ASSERT_TRUE(index) << line.text;
      EXPECT_EQ(binary->functions()[*index].kind, Function::Kind::plt_stub);
      const auto target = binary->stub_target(*index);
      ASSERT_TRUE(target) << line.text;
      EXPECT_TRUE(names[slot->second].contains(*target)) << *target;
      ++stubs;
    }
    EXPECT_GT(stubs, 5U) << kind;
  }
}

using Options = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(
    Programs, FunctionsOf,
    testing::Values(
        std::tuple("unoptimised", Options{"-g", "-O0"}), std::tuple("optimised", Options{"-O2"}),
        std::tuple("fixed", Options{"-g", "-O3", "-no-pie"}),
        std::tuple("fixed_old_dwarf", Options{"-gdwarf-4", "-O2", "-no-pie", "-fno-pie"}),
        std::tuple("static", Options{"-O2", "-static"}),
        std::tuple("static_pie", Options{"-O2", "-static-pie"}),
        std::tuple("bound_early", Options{"-O2", "-Wl,-z,now"}),
        std::tuple("branch_tracking", Options{"-O2", "-fcf-protection=full", "-Wl,-z,ibtplt"}),
        std::tuple("branch_tracking_early",
                   Options{"-O2", "-fcf-protection=full", "-Wl,-z,ibtplt,-z,now"}),
        std::tuple("no_plt", Options{"-O2", "-fno-plt"}),
        std::tuple("own_sections",
                   Options{"-g", "-O2", "-ffunction-sections", "-Wl,--gc-sections"}),
        std::tuple("gold", Options{"-g", "-O2", "-fuse-ld=gold"}),
        std::tuple("whole_program", Options{"-g", "-O2", "-flto"}),
        std::tuple("clang", Options{"clang++-19", "-g", "-O2"}),
        std::tuple("clang_unoptimised", Options{"clang++-19", "-g", "-O0"})),
    [](const auto& info) { return std::string(std::get<0>(info.param)); });

TEST(Functions, OfThisTestProgramAreThoseOfNm) {
  expect_functions_as_nm_says(std::filesystem::read_symlink("/proc/self/exe").string());
}

TEST(Functions, OfTheStandardLibraryAreItsDynamicSymbols) {
  const std::string path = run_command({"g++", "-print-file-name=libstdc++.so.6"}).output.substr(0);
  const std::string file = std::filesystem::canonical(lines_of(path).front()).string();
  const auto binary = open_binary(file);
  ASSERT_TRUE(binary);
  std::size_t checked = 0;
  for (const NmSymbol& symbol : nm(file, true)) {
    if (symbol.size > 0) {
      const auto index = binary->function_entry(symbol.address);
      ASSERT_TRUE(index) << symbol.name;
      ASSERT_FALSE(binary->functions()[*index].ranges.empty());
      EXPECT_GE(binary->functions()[*index].ranges.front().high, symbol.address + 1);
      ++checked;
    }
  }
  EXPECT_GT(checked, 1000U);
}

TEST(Functions, OfStrippedProgramsComeFromTheUnwindTable) {
  const TemporaryFolder folder;
  const std::string path = folder.compile("whole", mixed_program, {"-O0"});
  const std::string stripped = folder / "stripped";
  ASSERT_EQ(run_command({"strip", "-o", stripped, path}).status, 0);
  const auto binary = open_binary(stripped);
  ASSERT_TRUE(binary);
  ASSERT_TRUE(nm(stripped).empty());
  std::size_t checked = 0;
  for (const NmSymbol& symbol : nm(path)) {
    if (symbol.size < 2 || symbol.name == "_dl_relocate_static_pie") {
      continue;
    }
    const auto index = binary->function_entry(symbol.address);
    ASSERT_TRUE(index) << symbol.name;
    const Function& function = binary->functions()[*index];
    std::ostringstream name;
    name << "sub_" << std::hex << symbol.address;
    EXPECT_EQ(function.name, name.str()) << symbol.name;
    EXPECT_EQ(function.ranges.front().high, symbol.address + symbol.size) << symbol.name;
    ++checked;
  }
  EXPECT_GT(checked, 20U);
}

TEST(Functions, WithoutSizeEndWhereTheNextBegins) {
  const TemporaryFolder folder;
  const std::string path = folder.compile("labels", R"(
asm(".text\n"
    ".globl first_label\nfirst_label:\n nop\n nop\n ret\n"
    ".globl second_label\n.type second_label, @function\nsecond_label:\n nop\n ret\n"
    ".globl third\n.type third, @function\nthird:\n nop\n.globl inside\ninside:\n ret\n.size third, .-third\n");
int main() { return 0; }
)",
                                          {"-O0"});
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  const Function* first = function_named(*binary, "first_label");
  const Function* second = function_named(*binary, "second_label");
  const Function* third = function_named(*binary, "third");
  ASSERT_TRUE(first != nullptr && second != nullptr && third != nullptr);
  EXPECT_EQ(first->ranges.front().high - first->address, 3U);   // nop, nop, ret
  EXPECT_EQ(second->ranges.front().high - second->address, 2U); // nop, ret
  EXPECT_EQ(third->ranges.front().high - third->address, 2U);
  EXPECT_TRUE(binary->find("inside").empty());
  EXPECT_EQ(binary->find("_init").size(), 1U);
  EXPECT_EQ(binary->find("_start").size(), 1U);
}

TEST(Functions, MakePerfsChoiceAmongAliases) {
  const TemporaryFolder folder;
  const std::string path = folder.compile("aliases", R"(
extern "C" {
int __impl(int x) { return x + 1; }
int weak_name(int) __attribute__((weak, alias("__impl")));
int public_name(int) __attribute__((alias("__impl")));
}
int main() { return 0; }
)",
                                          {"-O0"});
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  const auto index = binary->function_entry(address_of(path, "__impl"));
  ASSERT_TRUE(index);
  EXPECT_EQ(binary->functions()[*index].name, "public_name");
  EXPECT_EQ(binary->find("weak_name"), std::vector{*index});
  EXPECT_EQ(binary->find("__impl"), std::vector{*index});
}

constexpr std::string_view cold_program = R"(
#include <cstdio>
#include <cstdlib>
__attribute__((noinline, cold)) void complain(int value) { std::printf("bad %d\n", value); }
__attribute__((noinline)) int risky(int value) {
  if (value < 0) {
    complain(value);
    std::puts("giving up");
    std::abort();
  }
  return value * 2;
}
__attribute__((noinline)) int careful(int value) {
  try {
    return risky(value) + 1;
  } catch (int number) {
    std::printf("caught %d\n", number);
    return number;
  }
}
int main(int argc, char**) { return careful(argc) + risky(argc); }
)";

class ColdParts : public testing::TestWithParam<const char*> {};

TEST_P(ColdParts, BelongToTheirFunction) {
  const TemporaryFolder folder;
  const std::string path =
      folder.compile("cold", cold_program, {"-O2", "-freorder-blocks-and-partition", GetParam()});
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  std::size_t parts = 0;
  for (const NmSymbol& symbol : nm(path)) {
    if (!symbol.name.ends_with(".cold")) {
      continue;
    }
    const std::uint64_t owner = address_of(path, symbol.name.substr(0, symbol.name.size() - 5));
    const auto index = binary->function_entry(owner);
    ASSERT_TRUE(index) << symbol.name;
    const Function& function = binary->functions()[*index];
    ASSERT_EQ(function.ranges.size(), 2U) << symbol.name;
    EXPECT_EQ(function.ranges[0].low, owner);
    EXPECT_EQ(function.ranges[1].low, symbol.address);
    EXPECT_EQ(function.ranges[1].high, symbol.address + symbol.size);
    EXPECT_EQ(binary->function_at(symbol.address + symbol.size / 2), index);
    EXPECT_FALSE(binary->function_entry(symbol.address));
    ++parts;
  }
  EXPECT_GE(parts, 1U);
}

// Parts are assigned with DWARF by ranges, without it by name.
INSTANTIATE_TEST_SUITE_P(By, ColdParts, testing::Values("-g", "-g0", "-gdwarf-4"),
                         [](const auto& info) {
                           return info.param == std::string("-g0")  ? "name"
                                  : info.param == std::string("-g") ? "ranges"
                                                                    : "old_ranges";
                         });

// GCC leaves such a part where all of its code turned out to be unreachable.
TEST(ColdPartNames, APartWithoutCodeContainsNoAddress) {
  const TemporaryFolder folder;
  const std::string path = folder.compile("empty", R"(
asm(".text\n"
    ".type first, @function\nfirst:\n ret\n.size first, .-first\n"
    ".type second, @function\nsecond:\n ret\n.size second, .-second\n"
    ".type first.cold, @function\nfirst.cold:\n.size first.cold, .-first.cold\n"
    ".type second.cold, @function\nsecond.cold:\n nop\n ud2\n.size second.cold, .-second.cold\n"
    "nothing:\n nop\n nop\n"
    ".type third, @function\nthird:\n ret\n.size third, .-third\n"
    ".type third.cold, @function\nthird.cold:\n ud2\n.size third.cold, .-third.cold\n");
int main() { return 0; }
)",
                                          {"-O0"});
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  const Function* const first = function_named(*binary, "first");
  ASSERT_TRUE(first != nullptr);
  EXPECT_EQ(first->ranges.size(), 1U);
  for (const char* const name : {"second", "third"}) {
    const auto owner = binary->function_entry(address_of(path, name));
    ASSERT_TRUE(owner) << name;
    EXPECT_EQ(binary->functions()[*owner].ranges.size(), 2U) << name;
    EXPECT_EQ(binary->function_at(address_of(path, std::string(name) + ".cold")), owner) << name;
  }
  EXPECT_FALSE(binary->function_at(address_of(path, "nothing")));
}

TEST(ColdPartNames, ALabelWithoutASizeEndsBeforeThem) {
  const TemporaryFolder folder;
  const std::string path = folder.compile("label", R"(
asm(".text\n.globl label\n.type label, @function\nlabel:\n nop\n ret\n"
    ".type owner.cold, @function\nowner.cold:\n ud2\n.size owner.cold, .-owner.cold\n"
    ".type owner, @function\nowner:\n ret\n.size owner, .-owner\n");
int main() { return 0; }
)",
                                          {"-O0"});
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  const Function* const label = function_named(*binary, "label");
  ASSERT_TRUE(label != nullptr);
  EXPECT_EQ(label->ranges.front().high, address_of(path, "owner.cold"));
  EXPECT_EQ(binary->function_at(address_of(path, "owner.cold")),
            binary->function_entry(address_of(path, "owner")));
}

TEST(ColdPartNames, StaysWithinTheSourceFile) {
  const TemporaryFolder folder;
  const char* const unit = R"(
#include <cstdio>
#include <cstdlib>
static __attribute__((noinline)) int work(int value) {
  if (value < 0) { std::puts("UNIT"); std::abort(); }
  return value * FACTOR;
}
int UNIT_entry(int value) { return work(value) + 1; }
)";
  std::vector<std::string> sources;
  for (const std::string name : {"one", "two"}) {
    std::string text = std::regex_replace(unit, std::regex("UNIT"), name);
    text = std::regex_replace(text, std::regex("FACTOR"), name == "one" ? "3" : "5");
    sources.push_back(folder.write(name + ".cpp", text));
  }
  sources.push_back(folder.write("main.cpp", "int one_entry(int); int two_entry(int);\n"
                                             "int main(int c, char**) "
                                             "{ return one_entry(c) + two_entry(c); }\n"));
  const std::string path = folder / "program";
  ASSERT_EQ(
      run_command({"g++", "-O2", "-g0", "-o", path, sources[0], sources[1], sources[2]}).status, 0);
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  const std::vector<std::uint32_t> found = binary->find("work");
  ASSERT_EQ(found.size(), 2U);
  // Each hot part jumps to its own cold part only.
  std::size_t jumps = 0;
  for (const DisassembledLine& line : objdump(path)) {
    if (line.target && line.mnemonic.starts_with('j') && line.function == "_ZL4worki") {
      EXPECT_EQ(binary->function_at(*line.target), binary->function_at(line.address)) << line.text;
      ++jumps;
    }
  }
  EXPECT_GE(jumps, 2U);
}

TEST(Clones, KeepTheirEntryAndNameTheirKind) {
  const TemporaryFolder folder;
  const std::string path = folder.compile("clones", R"(
asm(".text\n.type helper.part.0, @function\nhelper.part.0:\n ret\n.size helper.part.0, .-helper.part.0\n"
    ".type _ZN2ns1fEi.constprop.0, @function\n_ZN2ns1fEi.constprop.0:\n ret\n"
    ".size _ZN2ns1fEi.constprop.0, .-_ZN2ns1fEi.constprop.0\n");
int main() { return 0; }
)",
                                          {"-O0"});
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  const auto part = binary->function_entry(address_of(path, "helper.part.0"));
  const auto constant = binary->function_entry(address_of(path, "_ZN2ns1fEi.constprop.0"));
  ASSERT_TRUE(part && constant);
  EXPECT_EQ(binary->functions()[*part].name, "helper [clone .part.0]");
  EXPECT_EQ(binary->functions()[*constant].name, "ns::f(int) [clone .constprop.0]");
  EXPECT_EQ(binary->find("ns::f"), std::vector{*constant});
}

TEST(Kinds, NameResolversAndIndirectFunctions) {
  const TemporaryFolder folder;
  const std::string path = folder.compile("kinds", R"(
asm(".text\n.globl _dl_runtime_resolve_xsavec\n.type _dl_runtime_resolve_xsavec, @function\n"
    "_dl_runtime_resolve_xsavec:\n ret\n.size _dl_runtime_resolve_xsavec, .-_dl_runtime_resolve_xsavec\n");
extern "C" {
static int plain(int x) { return x; }
static int (*choose())(int) { return plain; }
int chosen(int) __attribute__((ifunc("choose")));
}
int main(int argc, char**) { return chosen(argc); }
)",
                                          {"-O0"});
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  const auto kind = [&](const char* name) {
    const auto index = binary->function_entry(address_of(path, name));
    return index ? binary->functions()[*index].kind : Function::Kind::code;
  };
  EXPECT_EQ(kind("_dl_runtime_resolve_xsavec"), Function::Kind::resolver);
  EXPECT_EQ(kind("chosen"), Function::Kind::indirect);
  EXPECT_EQ(kind("main"), Function::Kind::code);
}

TEST(Kinds, TheDynamicLinkersTrampolinesAreRecognisedWithoutNames) {
  const std::string path = "/lib64/ld-linux-x86-64.so.2";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << path << " is not on this machine";
  }
  const TemporaryFolder folder;
  // A copy in another folder, without build-id: separate debug information is then not found.
  const std::string copy = folder / "ld-linux-x86-64.so.2";
  ASSERT_EQ(run_command({"objcopy", "--strip-all", "--remove-section=.note.gnu.build-id",
                         "--remove-section=.gnu_debuglink", path, copy})
                .status,
            0);
  const auto binary = open_binary(copy);
  ASSERT_TRUE(binary);
  // Reference: the functions in objdump's output with a save of vector state and a jump through
  // r11.
  std::set<std::uint64_t> expected;
  std::set<std::uint64_t> found;
  bool saves = false;
  std::optional<std::uint32_t> last;
  for (const DisassembledLine& line : objdump(copy)) {
    const auto index = binary->function_at(line.address);
    saves = index == last && saves;
    last = index;
    saves = saves || line.text.starts_with("xsave") || line.text.starts_with("fxsave");
    if (index && saves && line.text.contains("jmp") && line.text.contains("*%r11")) {
      expected.insert(binary->functions()[*index].address);
    }
  }
  for (const Function& function : binary->functions()) {
    if (function.kind == Function::Kind::resolver) {
      found.insert(function.address);
    }
  }
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(found, expected);
}

TEST(RealRecordings, StubsOfOldProgramsAreRecognised) {
  const std::filesystem::path folder =
      std::filesystem::path(PTLENS_SOURCE_ROOT) / "../shared/traces/lldb-multi-file/symfs/traced";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "the real recordings are not on this machine";
  }
  const auto program = open_binary((folder / "a.out").string());
  const auto library = open_binary((folder / "libfoo.so").string());
  ASSERT_TRUE(program && library);
  const auto name_at = [](const Binary& binary, std::uint64_t address) {
    const auto index = binary.function_at(address);
    return index ? binary.functions()[*index].name : "nothing";
  };
  EXPECT_EQ(name_at(*program, 0x400540), "foo@plt");
  EXPECT_EQ(name_at(*program, 0x40054b), "foo@plt");
  EXPECT_EQ(name_at(*program, 0x40066f), "main");
  EXPECT_EQ(name_at(*library, 0x5d0), "bar@plt");
  EXPECT_EQ(name_at(*library, 0x6e8), "foo()");
  const auto first = program->function_at(0x400510);
  ASSERT_TRUE(first);
  EXPECT_EQ(program->functions()[*first].kind, Function::Kind::plt_stub);
  EXPECT_EQ(program->functions()[*first].address, 0x400510U);
  EXPECT_FALSE(program->stub_target(*first));
}

} // namespace
} // namespace ptlens::symbols::test
