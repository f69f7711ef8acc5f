// Names in compiled programs. Demangling is compared with the C++ runtime's own demangler.
#include "symbols/compiled_programs.hpp"
#include "symbols/names/demangle.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace ptlens::symbols::test {
namespace {

TEST(Demangle, AgreesWithTheRuntimeExceptForTemplates) {
  std::size_t checked = 0;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  for (const NmSymbol& symbol : nm(self)) {
    int status = 0;
    struct Free {
      void operator()(char* text) const { std::free(text); } // NOLINT(cppcoreguidelines-no-malloc)
    };
    const std::unique_ptr<char, Free> expected(
        abi::__cxa_demangle(symbol.name.c_str(), nullptr, nullptr, &status));
    // Names of templates have a return type, which is left out here. Clone suffixes are spelt
    // alike.
    if (!expected || status != 0 || std::string_view(expected.get()).contains('<')) {
      continue;
    }
    EXPECT_EQ(demangle(symbol.name), expected.get()) << symbol.name;
    ++checked;
  }
  EXPECT_GT(checked, 50U);
}

constexpr std::string_view named_program = R"(
namespace shop {
struct Order { int total(int tax) const; double total(double tax) const; };
int Order::total(int tax) const { return tax + 1; }
double Order::total(double tax) const { return tax + 2; }
int parse_order(int x, char y) { return x + y; }
template <class T> T Twice(T x) { return x + x; }
template int Twice<int>(int);
}
namespace bank { int total(int x) { return x; } }
extern "C" int total_sum(int x) { return x; }
int main() { return 0; }
)";

class Names : public testing::Test {
protected:
  void SetUp() override {
    path_ = folder_.compile("named", named_program, {"-O0"});
    binary_ = open_binary(path_);
    ASSERT_TRUE(binary_);
  }
  std::set<std::string> found(std::string_view name) {
    std::set<std::string> names;
    for (const std::uint32_t index : binary_->find(name)) {
      names.insert(binary_->functions()[index].linkage_name);
    }
    return names;
  }
  using Set = std::set<std::string>;

  TemporaryFolder folder_;
  std::string path_;
  std::shared_ptr<const Binary> binary_;
};

TEST_F(Names, AreFoundByTheBestKindOfMatchOnly) {
  EXPECT_EQ(found("shop::Order::total(int) const"), Set{"_ZNK4shop5Order5totalEi"});
  EXPECT_EQ(found("shop::Order::total"),
            (Set{"_ZNK4shop5Order5totalEi", "_ZNK4shop5Order5totalEd"}));
  EXPECT_EQ(found("total"),
            (Set{"_ZNK4shop5Order5totalEi", "_ZNK4shop5Order5totalEd", "_ZN4bank5totalEi"}));
  EXPECT_EQ(found("_ZN4bank5totalEi"), Set{"_ZN4bank5totalEi"});
  EXPECT_EQ(found("shop::parse_order(int, char)"), Set{"_ZN4shop11parse_orderEic"});
  EXPECT_EQ(found("shop::parse_order(int,char)"), Set{"_ZN4shop11parse_orderEic"});
  EXPECT_EQ(found("parse_order"), Set{"_ZN4shop11parse_orderEic"});
  EXPECT_EQ(found("Twice"), Set{"_ZN4shop5TwiceIiEET_S1_"});
  EXPECT_EQ(found("shop::Twice<int>(int)"), Set{"_ZN4shop5TwiceIiEET_S1_"});
  EXPECT_EQ(found("Order::total(int) const"), Set{"_ZNK4shop5Order5totalEi"});
  EXPECT_EQ(found("Twice<int>"), Set{"_ZN4shop5TwiceIiEET_S1_"});
  EXPECT_EQ(found("Twice<char>"), Set{});
  EXPECT_EQ(found("total_sum"), Set{"total_sum"});
  EXPECT_EQ(found("shop::parse_order(char)"), Set{});
  EXPECT_EQ(found("rder::total"), Set{});
  EXPECT_EQ(found(""), Set{});
}

TEST_F(Names, AreSuggestedNearestFirst) {
  const std::vector<std::string> near = binary_->nearest_names("parse_odrer", 3);
  ASSERT_EQ(near.size(), 3U);
  EXPECT_EQ(near[0], "shop::parse_order(int, char)");
  EXPECT_EQ(binary_->nearest_names("mian", 1), std::vector<std::string>{"main"});
  EXPECT_EQ(binary_->nearest_names("twice", 1), std::vector<std::string>{"shop::Twice<int>(int)"});
  EXPECT_EQ(binary_->nearest_names("total_snm", 1), std::vector<std::string>{"total_sum"});
  EXPECT_TRUE(binary_->nearest_names("main", 0).empty());
  EXPECT_LE(binary_->nearest_names("x", 100000).size(), binary_->functions().size());
}

} // namespace
} // namespace ptlens::symbols::test
