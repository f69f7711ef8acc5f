// Which function is at a line, asked about a program that the test compiles; nm says the addresses.
#include "server/host/functions_at.hpp"
#include "server/recordings/output_folder.hpp"
#include "support/run_command.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/stat.h>

namespace ptlens::server {
namespace {

namespace fs = std::filesystem;

constexpr const char* source = R"(
namespace shop {
struct Box { int size; };
[[gnu::noipa]] int weigh(const Box& box) {
  return box.size * 3;
}
[[gnu::noipa]] int pack(const Box& box) {
  int total = weigh(box);
  return total + 1;
}
template <class T> [[gnu::noipa]] T larger(T one, T other) {
  return one > other ? one : other;
}
[[gnu::always_inline]] inline int stir(int value) {
  return value * 17 ^ 5;
}
}
int main(int count, char**) {
  const auto twice = [](int value) __attribute__((noipa)) {
    return value * 2;
  };
  count += shop::larger(1, count) + static_cast<int>(shop::larger(1.0, 2.0 * count));
  count += shop::stir(count);
  return shop::pack({twice(count)});
}
)";

class FunctionsAt : public testing::Test {
protected:
  static void SetUpTestSuite() {
    folder() = fs::temp_directory_path() / ("ptlens-functions-at-" + std::to_string(::getpid()));
    fs::create_directories(folder());
    std::ofstream(folder() / "box.cpp") << source;
    ASSERT_EQ(test::run_command({"g++", "-g", "-O2", "-o", folder() / "box", folder() / "box.cpp"})
                  .status,
              0);
  }
  static void TearDownTestSuite() { fs::remove_all(folder()); }

  static fs::path& folder() {
    static fs::path path;
    return path;
  }

  // Returns the names and lines of functions_at(); "!" and the message where there is none.
  static std::string found(std::int32_t line, const std::string& name,
                           const std::string& symbol = {},
                           std::optional<std::int32_t> symbol_line = {}) {
    const auto result = functions_at({.file = folder() / "box.cpp",
                                      .line = line,
                                      .name = name,
                                      .pid = std::nullopt,
                                      .program = folder() / "box",
                                      .symbol = symbol,
                                      .symbol_line = symbol_line});
    if (!result) {
      return result.error().one_line();
    }
    std::string text = result->candidates.empty() ? "!" + result->message : "";
    for (const stacks::FunctionInfo& function : result->candidates) {
      text += function.name + ":" + std::to_string(function.line) + " ";
    }
    if (result->inlined) {
      text += "inlined " + std::to_string(result->inlined->places) + ":";
      for (const stacks::FunctionInfo& holder : result->inlined->holders) {
        text += " " + holder.name;
      }
    }
    return text;
  }
};

TEST_F(FunctionsAt, TheFunctionThatHoldsTheLine) {
  EXPECT_EQ(found(4, ""), "shop::weigh(shop::Box const&):4 ");
  EXPECT_EQ(found(5, ""), "shop::weigh(shop::Box const&):4 ");
  EXPECT_EQ(found(9, ""), "shop::pack(shop::Box const&):7 ");
}

TEST_F(FunctionsAt, ACursorOnACallMeansWhatIsCalled) {
  EXPECT_EQ(found(8, "weigh"), "shop::weigh(shop::Box const&):4 ");
  EXPECT_EQ(found(7, "pack"), "shop::pack(shop::Box const&):7 ");
}

TEST_F(FunctionsAt, AnIdentifierThatIsNoFunctionDoesNotMatter) {
  EXPECT_EQ(found(8, "total"), "shop::pack(shop::Box const&):7 ");
}

TEST_F(FunctionsAt, AddressAndBinaryAreThoseOfNm) {
  const auto result = functions_at({.file = folder() / "box.cpp",
                                    .line = 4,
                                    .name = "",
                                    .pid = std::nullopt,
                                    .program = folder() / "box"});
  ASSERT_TRUE(result);
  ASSERT_EQ(result->candidates.size(), 1U);
  EXPECT_EQ(result->candidates[0].binary, folder() / "box");
  std::istringstream symbols(test::run_command({"nm", folder() / "box"}).output);
  std::string line;
  std::uint64_t address = 0;
  while (std::getline(symbols, line)) {
    if (line.find("weigh") != std::string::npos) {
      address = std::stoull(line, nullptr, 16);
    }
  }
  EXPECT_EQ(result->candidates[0].address, address);
}

TEST_F(FunctionsAt, AllInstancesOfATemplate) {
  const std::string both =
      "shop::larger<int>(int, int):11 shop::larger<double>(double, double):11 ";
  EXPECT_EQ(found(12, ""), both);
  EXPECT_EQ(found(22, "larger"), both);
}

TEST_F(FunctionsAt, ALambdaBeforeTheFunctionAroundIt) {
  // On which of its lines a lambda is declared is the compiler's choice.
  const std::string both = found(20, "");
  EXPECT_TRUE(both.starts_with("main::{lambda(int)#1}::operator()(int) const:")) << both;
  EXPECT_TRUE(both.ends_with(" main:18 ")) << both;
  EXPECT_EQ(found(22, ""), "main:18 ");
}

TEST_F(FunctionsAt, TheLanguageServersSymbolDecides) {
  EXPECT_EQ(found(20, "", "main", 18), "main:18 ");
  // A line without code, below the last that has some.
  EXPECT_EQ(found(500, "", "shop::pack", 0), "shop::pack(shop::Box const&):7 ");
}

TEST_F(FunctionsAt, OfAFunctionInlinedEverywhereItsCallers) {
  EXPECT_EQ(found(23, "stir"), "main:18 inlined 1: main");
  EXPECT_EQ(found(15, "", "shop::stir"), "!shop::stir(int) was inlined everywhere, at 1 place"
                                         "inlined 1: main");
}

TEST_F(FunctionsAt, NoneIsExplained) {
  EXPECT_NE(found(1000, "").find("no function of"), std::string::npos) << found(1000, "");
  const auto other = functions_at({.file = "/elsewhere/other.cpp",
                                   .line = 1,
                                   .name = "",
                                   .pid = std::nullopt,
                                   .program = folder() / "box"});
  ASSERT_TRUE(other);
  EXPECT_TRUE(other->candidates.empty());
  EXPECT_NE(other->message.find("-g"), std::string::npos) << other->message;
}

TEST_F(FunctionsAt, AProgramThatIsNotThereIsAnError) {
  const auto result = functions_at({.file = folder() / "box.cpp",
                                    .line = 4,
                                    .name = "",
                                    .pid = std::nullopt,
                                    .program = folder() / "none"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, Error::Kind::not_found);
}

TEST_F(FunctionsAt, AProcessOfOursIsSearched) {
  const auto result = functions_at({.file = __FILE__,
                                    .line = 0,
                                    .name = "functions_at",
                                    .pid = static_cast<std::int32_t>(::getpid()),
                                    .program = ""});
  ASSERT_TRUE(result) << result.error().one_line();
  ASSERT_FALSE(result->candidates.empty()) << result->message;
  EXPECT_NE(result->candidates[0].name.find("functions_at"), std::string::npos);
}

TEST(OutputFolder, NewAndNamedAfterTheFunction) {
  const fs::path state = fs::temp_directory_path() / ("ptlens-state-" + std::to_string(::getpid()));
  ASSERT_EQ(::setenv("XDG_STATE_HOME", state.c_str(), 1), 0);
  const auto first = new_recording_folder("ns::f<int>(../x)");
  ASSERT_TRUE(first);
  const fs::path path = *first;
  EXPECT_EQ(path.parent_path(), state / "ptlens" / "recordings");
  EXPECT_TRUE(path.filename().string().ends_with("Z-ns_f_int_.._x_")) << path;
  EXPECT_FALSE(fs::exists(path));
  struct stat status{};
  ASSERT_EQ(::stat(path.parent_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  fs::create_directory(path);
  const auto second = new_recording_folder("ns::f<int>(../x)");
  ASSERT_TRUE(second);
  EXPECT_NE(*second, *first);
  const auto elsewhere = new_recording_folder("f", state / "mine");
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(fs::path(*elsewhere).parent_path(), state / "mine");
  fs::permissions(state / "mine", fs::perms(0755));
  ASSERT_TRUE(new_recording_folder("g", state / "mine"));
  EXPECT_EQ(fs::status(state / "mine").permissions(), fs::perms(0755))
      << "the user's own folder stays as it is";
  const auto relative = new_recording_folder("f", "mine");
  ASSERT_FALSE(relative);
  EXPECT_EQ(relative.error().kind, Error::Kind::bad_input);
  ::unsetenv("XDG_STATE_HOME");
  fs::remove_all(state);
}

} // namespace
} // namespace ptlens::server
