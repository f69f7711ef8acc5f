// Source lines compared with addr2line; declarations compared with the sources.
#include "symbols/compiled_programs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <tuple>
#include <utility>

namespace ptlens::symbols::test {
namespace {

std::string hexadecimal(std::uint64_t number) {
  std::ostringstream text;
  text << std::hex << number;
  return text.str();
}

// binutils 2.40's addr2line names the function's file instead of the row's for some inlined code.
// Its readelf prints the rows unchanged: file name, line, address.
void expect_rows_of_readelf(const std::string& path,
                            const std::map<std::uint64_t, SourceLine>& expected) {
  if (expected.empty()) {
    return;
  }
  std::map<std::uint64_t, std::set<std::pair<std::string, std::string>>> rows;
  for (const std::string& text :
       lines_of(run_command({"readelf", "--wide", "--debug-dump=decodedline", path}).output)) {
    std::istringstream fields(text);
    std::string file;
    std::string line;
    std::string address;
    if (fields >> file >> line >> address && address.starts_with("0x")) {
      rows[std::stoull(address, nullptr, 16)].emplace(file, line);
    }
  }
  for (const auto& [address, line] : expected) {
    const auto behind = rows.upper_bound(address);
    ASSERT_NE(behind, rows.begin());
    const std::string name = std::filesystem::path(line.file).filename();
    EXPECT_TRUE(std::prev(behind)->second.contains({name, std::to_string(line.line)}))
        << hexadecimal(address) << " is " << line.file << ":" << line.line;
  }
}

void expect_lines_as_addr2line_says(const std::string& path, std::size_t at_least) {
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  EXPECT_TRUE(binary->has_debug_info());
  std::vector<std::uint64_t> addresses;
  for (const NmSymbol& symbol : nm(path)) {
    for (std::uint64_t offset = 0; offset < symbol.size; offset += 7) {
      addresses.push_back(symbol.address + offset);
    }
  }
  constexpr std::size_t most = 12'000;
  const std::size_t step = addresses.size() / most + 1;
  std::string input;
  std::vector<std::uint64_t> queried;
  for (std::size_t at = 0; at < addresses.size(); at += step) {
    queried.push_back(addresses[at]);
    input += hexadecimal(addresses[at]) + "\n";
  }
  const std::vector<std::string> answers =
      lines_of(run_command({"addr2line", "-e", path}, input).output);
  ASSERT_EQ(answers.size(), queried.size());
  static const std::regex shape("(.*):([0-9?]+)(?: \\(discriminator [0-9]+\\))?");
  std::size_t known = 0;
  std::map<std::uint64_t, SourceLine> disputed;
  for (std::size_t at = 0; at < queried.size(); ++at) {
    std::smatch match;
    ASSERT_TRUE(std::regex_match(answers[at], match, shape)) << answers[at];
    const auto line = binary->line_at(queried[at]);
    if (match.str(2) == "?" || match.str(2) == "0") {
      // addr2line also prints "?" for some addresses that it knows in a query of their own.
      if (line) {
        disputed.emplace(queried[at], *line);
      }
      continue;
    }
    ASSERT_TRUE(line) << hexadecimal(queried[at]) << " is " << answers[at];
    EXPECT_EQ(line->line, std::stoul(match[2])) << hexadecimal(queried[at]);
    const std::string file = std::filesystem::path(match.str(1)).lexically_normal().string();
    if (line->file != file) {
      disputed.emplace(queried[at], *line);
    }
    EXPECT_TRUE(line->file.starts_with('/')) << line->file;
    ++known;
  }
  EXPECT_GE(known, at_least);
  EXPECT_LE(disputed.size(), known / 50);
  expect_rows_of_readelf(path, disputed);
}

class LinesOf : public testing::TestWithParam<std::tuple<const char*, std::vector<std::string>>> {};

TEST_P(LinesOf, AreThoseOfAddr2line) {
  const auto& [name, options] = GetParam();
  if (!options.front().starts_with('-') && !has_command(options.front())) {
    GTEST_SKIP() << options.front() << " is not installed";
  }
  const TemporaryFolder folder;
  expect_lines_as_addr2line_says(folder.compile(name, mixed_program, options), 40);
}

using Options = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(
    Programs, LinesOf,
    testing::Values(std::tuple("dwarf5", Options{"-gdwarf-5", "-O2"}),
                    std::tuple("dwarf4", Options{"-gdwarf-4", "-O2"}),
                    std::tuple("dwarf3", Options{"-gdwarf-3", "-gstrict-dwarf", "-O0"}),
                    std::tuple("fixed", Options{"-g", "-O3", "-no-pie"}),
                    std::tuple("compressed", Options{"-g", "-O2", "-gz=zlib"}),
                    std::tuple("own_sections",
                               Options{"-g", "-O2", "-ffunction-sections", "-Wl,--gc-sections"}),
                    std::tuple("clang", Options{"clang++-19", "-g", "-O2"}),
                    std::tuple("clang_dwarf4", Options{"clang++-19", "-gdwarf-4", "-O1"})),
    [](const auto& info) { return std::string(std::get<0>(info.param)); });

TEST(Lines, OfThisTestProgramAreThoseOfAddr2line) {
  expect_lines_as_addr2line_says(std::filesystem::read_symlink("/proc/self/exe").string(), 3000);
}

TEST(Lines, RelativePathsStartInTheCompilationFolder) {
  const TemporaryFolder folder;
  folder.write("src/part.cpp",
               "int part(int x) {\n  return x + 1;\n}\nint main() { return part(1); }\n");
  const std::string path = folder / "program";
  ASSERT_EQ(
      run_command({"env", "-C", folder / "src", "g++", "-g", "-O0", "-o", path, "part.cpp"}).status,
      0);
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  const auto line = binary->line_at(address_of(path, "main"));
  ASSERT_TRUE(line);
  EXPECT_EQ(line->file, std::filesystem::canonical(folder / "src/part.cpp").string());
  EXPECT_EQ(line->line, 4U);
}

constexpr std::string_view declared_program = R"(struct Shape {
  int area(int) const;
  static int count();
};
inline int helper(int x) {
  return x * 2;
}
int Shape::area(int x) const {
  int sum = helper(x);
  return sum + x;
}
int Shape::count() { return 3; }
template <class T>
T largest(T a, T b) {
  return a > b ? a : b;
}
int main(int argc, char**) {
  Shape shape;
  auto twice = [argc](int x) {
    return x * argc;
  };
  return shape.area(argc) + Shape::count() +
         largest(argc, 2) + twice(3);
}
)";

// Function, first line, last line: counted by hand in the source above.
TEST(Declarations, AreThoseOfTheDefinition) {
  const TemporaryFolder folder;
  for (const char* options : {"-gdwarf-5", "-gdwarf-4"}) {
    const std::string path = folder.compile("declared", declared_program, {"-O0", options});
    const auto binary = open_binary(path);
    ASSERT_TRUE(binary);
    using Expected = std::tuple<const char*, std::uint32_t, std::uint32_t>;
    for (const auto& [name, line, end_line] :
         {Expected{"Shape::area", 8, 11}, Expected{"Shape::count", 12, 12},
          Expected{"helper", 5, 7}, Expected{"largest", 14, 16}, Expected{"main", 17, 24},
          Expected{"main::{lambda(int)#1}::operator()", 19, 21}}) {
      const Function* function = function_named(*binary, name);
      ASSERT_NE(function, nullptr) << name;
      EXPECT_EQ(function->line, line) << name;
      EXPECT_EQ(function->end_line, end_line) << name;
      EXPECT_TRUE(function->file.ends_with("/declared.cpp")) << function->file;
    }
    const auto names_at = [&](std::uint32_t line) {
      std::set<std::string> names;
      for (const std::uint32_t index : binary->find_at_line("declared.cpp", line)) {
        names.insert(binary->functions()[index].linkage_name);
      }
      return names;
    };
    EXPECT_EQ(names_at(9), std::set<std::string>{"_ZNK5Shape4areaEi"});
    EXPECT_EQ(names_at(6), std::set<std::string>{"_Z6helperi"});
    EXPECT_TRUE(names_at(1).empty());
    EXPECT_EQ(binary->find_at_line("declared.cpp", 0).size(), 6U);
    EXPECT_TRUE(binary->find_at_line("other.cpp", 0).empty());
    EXPECT_TRUE(binary->has_source("declared.cpp"));
    EXPECT_FALSE(binary->has_source("x/declared.cpp"));
    EXPECT_FALSE(binary->has_source("clared.cpp"));
    EXPECT_FALSE(binary->has_source(""));
  }
}

// The function is inlined everywhere but once: the concrete copy refers to an abstract origin.
TEST(Declarations, AreFoundThroughAbstractOrigins) {
  const TemporaryFolder folder;
  const std::string path = folder.compile("origin", R"(struct Counter {
  int step(int x);
  int value = 0;
};

int Counter::step(int x) {
  value += x;
  return value * 2;
}
Counter counter;
int main(int argc, char**) {
  return counter.step(argc);
}
)",
                                          {"-O2", "-g"});
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  const Function* function = function_named(*binary, "Counter::step");
  ASSERT_NE(function, nullptr);
  EXPECT_EQ(function->line, 6U);
  EXPECT_EQ(function->end_line, 9U);
}

TEST(Declarations, InHeadersMakeThemSources) {
  const TemporaryFolder folder;
  folder.write("inner/deep.hpp", "inline int deep(int x) {\n  return x + 40;\n}\n");
  const std::string path = folder.compile(
      "user", "#include \"inner/deep.hpp\"\nint main() { return deep(2); }\n", {"-g", "-O0"});
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  EXPECT_TRUE(binary->has_source("inner/deep.hpp"));
  EXPECT_TRUE(binary->has_source(folder / "inner/deep.hpp"));
  EXPECT_FALSE(binary->has_source("outer/deep.hpp"));
}

TEST(SeparateDebugInformation, IsFoundByLinkAndCheckedByIdOrChecksum) {
  const TemporaryFolder folder;
  for (const bool with_id : {true, false}) {
    const std::string path =
        folder.compile("split", declared_program,
                       {"-O0", "-g", with_id ? "-Wl,--build-id=sha1" : "-Wl,--build-id=none"});
    const std::uint64_t entry = address_of(path, "_ZNK5Shape4areaEi");
    const std::string debug = folder / ".debug/split.debug";
    std::filesystem::create_directories(folder / ".debug");
    ASSERT_EQ(run_command({"objcopy", "--only-keep-debug", path, debug}).status, 0);
    ASSERT_EQ(run_command({"objcopy", "--strip-all", "--add-gnu-debuglink=" + debug, path}).status,
              0);
    {
      const auto binary = open_binary(path);
      ASSERT_TRUE(binary);
      EXPECT_TRUE(binary->has_debug_info());
      const Function* function = function_named(*binary, "Shape::area");
      ASSERT_NE(function, nullptr);
      EXPECT_EQ(function->address, entry);
      EXPECT_EQ(function->line, 8U);
    }
    // Debug information of another build is not used.
    const std::string other =
        folder.compile("other", mixed_program, {"-O0", "-g", "-Wl,--build-id=sha1"});
    ASSERT_EQ(run_command({"objcopy", "--only-keep-debug", other, debug}).status, 0);
    const auto binary = open_binary(path);
    ASSERT_TRUE(binary);
    EXPECT_FALSE(binary->has_debug_info());
    EXPECT_TRUE(binary->find("Shape::area").empty());
  }
}

TEST(Rust, ProgramsHaveNamesAndLines) {
  if (!has_command("rustc")) {
    GTEST_SKIP() << "rustc is not installed";
  }
  const TemporaryFolder folder;
  const std::string source = folder.write("orders.rs", R"(mod shop {
    pub struct Order(pub u64);
    impl Order {
        #[inline(never)]
        pub fn total(&self) -> u64 {
            self.0 * 3
        }
    }
}
fn main() {
    let order = shop::Order(std::env::args().count() as u64);
    println!("{}", order.total());
}
)");
  for (const std::string mangling : {"legacy", "v0"}) {
    const std::string path = folder / "orders";
    // In some toolchains "legacy" needs an unstable option; then only v0 is tested.
    if (run_command({"rustc", "-g", "-C", "opt-level=1", "-C",
                     "symbol-mangling-version=" + mangling, "-o", path, source})
            .status != 0) {
      EXPECT_EQ(mangling, "legacy");
      continue;
    }
    const auto binary = open_binary(path);
    ASSERT_TRUE(binary);
    const Function* function = function_named(*binary, "total");
    ASSERT_NE(function, nullptr);
    EXPECT_TRUE(function->name.contains("shop::Order")) << function->name;
    EXPECT_TRUE(function->name.ends_with("::total")) << function->name;
    EXPECT_EQ(function->line, 5U);
    EXPECT_EQ(function->end_line, 7U);
    EXPECT_TRUE(function->file.ends_with("/orders.rs")) << function->file;
    EXPECT_TRUE(binary->has_source("orders.rs"));
  }
}

} // namespace
} // namespace ptlens::symbols::test
