// A function is found again after a rebuild. nm says where it is in each build.
#include "record/targets/target_functions.hpp"
#include "record_test_support.hpp"
#include "symbols/elf/build_id.hpp"

#include <sstream>

namespace ptlens::record::test {
namespace {

// PADDING moves every function; with OTHER_FIRST, another function is where `handle` was.
constexpr std::string_view source = R"(
#ifdef OTHER_FIRST
[[gnu::noipa]] int other(int value) { return value * 3; }
#endif
[[gnu::noipa]] int handle(int value) { return value * 17 + 4; }
#ifndef OTHER_FIRST
[[gnu::noipa]] int other(int value) { return value * 3; }
#endif
#ifdef PADDING
[[gnu::noipa, gnu::used]] int padding(int value) {
  for (int step = 0; step < value; ++step) value ^= step * 77;
  return value;
}
#endif
namespace shop {
#ifdef NEW_PARAMETER
[[gnu::noipa]] int price(int number, int) { return number + 1; }
#else
[[gnu::noipa]] int price(int number) { return number + 1; }
#endif
}
int main(int count, char**) {
#ifdef NEW_PARAMETER
  return handle(count) + other(count) + shop::price(count, 2);
#else
  return handle(count) + other(count) + shop::price(count);
#endif
}
)";

std::uint64_t address_by_nm(const std::string& program, const std::string& name) {
  std::istringstream lines(
      record::run({find_program("nm"), "-C", program}, std::chrono::minutes(1)).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(" " + name)) {
      return std::stoull(line, nullptr, 16);
    }
  }
  return 0;
}

class Rebuilt : public testing::Test {
protected:
  // Returns the request for a function as the editor makes it from the program as it is now.
  [[nodiscard]] Request chosen(const std::string& program, const std::string& name) const {
    const auto binary = symbols::Binary::open(program).value();
    const auto index = binary->find(name).at(0);
    const symbols::Function& function = binary->functions()[index];
    Request request;
    request.program = {program};
    request.function = function.name;
    request.binary = program;
    request.address = function.address;
    request.origin = {.build_id = symbols::build_id_text(binary->build_id()),
                      .linkage_name = function.linkage_name,
                      .file = function.file,
                      .line = function.line};
    return request;
  }

  // Returns the entry that a recording of the request would measure now; 0 where there is none.
  static std::uint64_t found(const Request& request) {
    auto files = TargetFiles::of(request);
    const auto place = find_target(request, *files);
    EXPECT_TRUE(place) << place.error().one_line();
    const auto targets = find_targets(request, *files);
    EXPECT_TRUE(targets && targets->size() == 1);
    return place ? (*place)->address : 0;
  }

  ProgramFolder folder{"rebuilt"};
};

TEST_F(Rebuilt, TheFunctionIsFoundByNameWhereverItIsNow) {
  const std::string program = folder.compile("app", source, {"-O1", "-fno-toplevel-reorder"});
  const Request handle = chosen(program, "handle");
  EXPECT_EQ(found(handle), address_by_nm(program, "handle(int)"));

  (void)folder.compile("app", source,
                       {"-O1", "-fno-toplevel-reorder", "-DPADDING", "-DOTHER_FIRST"});
  EXPECT_NE(address_by_nm(program, "handle(int)"), *handle.address) << "the function moved";
  EXPECT_EQ(found(handle), address_by_nm(program, "handle(int)"));
}

TEST_F(Rebuilt, AnotherFunctionAtTheOldAddressIsNotMeasured) {
  const std::string program = folder.compile("app", source, {"-O1", "-fno-toplevel-reorder"});
  const Request handle = chosen(program, "handle");
  Request blind = handle;
  (void)folder.compile("app", source, {"-O1", "-fno-toplevel-reorder", "-DOTHER_FIRST"});
  ASSERT_EQ(address_by_nm(program, "other(int)"), *handle.address) << "the two changed places";
  EXPECT_EQ(found(handle), address_by_nm(program, "handle(int)"));
  blind.origin = {};
  EXPECT_EQ(found(blind), address_by_nm(program, "other(int)")) << "an address alone is exact";
}

TEST_F(Rebuilt, AFunctionWithAnotherParameterIsTheSame) {
  const std::string program = folder.compile("app", source, {"-O1", "-fno-toplevel-reorder"});
  const Request price = chosen(program, "shop::price");
  (void)folder.compile("app", source, {"-O1", "-DNEW_PARAMETER", "-DPADDING"});
  EXPECT_EQ(found(price), address_by_nm(program, "shop::price(int, int)"));
}

TEST_F(Rebuilt, StaticFunctionsOfOneNameAreDistinguishedByTheirFile) {
  const std::string main_file = folder / "two.cpp";
  const std::string other_file = folder / "first.inc.cpp";
  constexpr std::string_view text = R"(
int first(int);
[[gnu::noipa]] static int twin(int value) { return value + 1; }
int main(int count, char**) { return twin(count) + first(count); }
)";
  std::ofstream(other_file) << "[[gnu::noipa]] static int twin(int value) { return value + 2; }\n"
                               "int first(int value) { return twin(value); }\n";
  const std::string program = folder.compile("two", text, {"-O1", other_file});
  const auto binary = symbols::Binary::open(program).value();
  Request twin = chosen(program, "first");
  for (const std::string& file : {main_file, other_file}) {
    std::uint64_t expected = 0;
    for (const std::uint32_t index : binary->find("twin")) {
      const symbols::Function& function = binary->functions()[index];
      expected = function.file == file ? function.address : expected;
    }
    ASSERT_NE(expected, 0U);
    twin.function = "twin(int)";
    twin.address = 0x10;
    twin.origin = {.build_id = "00", .linkage_name = "", .file = file, .line = 1};
    EXPECT_EQ(found(twin), expected) << file;
  }
}

} // namespace
} // namespace ptlens::record::test
