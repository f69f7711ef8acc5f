// Demangling and finding by name. Judges: the C++ runtime's own demangler, and examples whose
// answers follow from the rules stated in the headers.
#include "symbols/dwarf/source_path.hpp"
#include "symbols/names/demangle.hpp"
#include "symbols/names/edit_distance.hpp"
#include "symbols/names/name_shape.hpp"
#include "symbols/symbols_test_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace ptlens::symbols::test {
namespace {

TEST(Demangle, AgreesWithTheRuntimeOnFunctionsThatAreNoTemplates) {
  std::size_t checked = 0;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  for (const NmSymbol& symbol : nm(self)) {
    int status = 0;
    struct Free {
      void operator()(char* text) const { std::free(text); } // NOLINT(cppcoreguidelines-no-malloc)
    };
    const std::unique_ptr<char, Free> expected(
        abi::__cxa_demangle(symbol.name.c_str(), nullptr, nullptr, &status));
    // Templates carry a return type that is left out here; clone suffixes are spelt alike.
    if (!expected || status != 0 || std::string_view(expected.get()).contains('<')) {
      continue;
    }
    EXPECT_EQ(demangle(symbol.name), expected.get()) << symbol.name;
    ++checked;
  }
  EXPECT_GT(checked, 50U);
}

TEST(Demangle, KnowsRustClonesAndVersions) {
  // Names from the Rust RFC 2603 text and from rustc's legacy scheme (Itanium plus a hash).
  EXPECT_EQ(demangle("_RNvC6_123foo3bar"), "123foo::bar");
  EXPECT_EQ(demangle("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
  EXPECT_EQ(demangle("_ZN2ns1fEi.part.0"), "ns::f(int) [clone .part.0]");
  EXPECT_EQ(demangle("f.isra.0.part.1"), "f [clone .isra.0] [clone .part.1]");
  EXPECT_EQ(demangle("f.constprop.0"), "f [clone .constprop.0]");
  EXPECT_EQ(demangle("memcpy@@GLIBC_2.14"), "memcpy");
  EXPECT_EQ(demangle("_ZN2ns1fEi.llvm.1234567890"), "ns::f(int)");
  EXPECT_EQ(demangle("name.with.dots"), "name.with.dots");
  EXPECT_EQ(demangle("_Z1fIiEvT_"), "f<int>(int)"); // void f<int>(int)
  EXPECT_EQ(demangle("_Zbroken"), "_Zbroken");
  EXPECT_EQ(demangle(""), "");
}

TEST(WithoutParameters, LeavesThePath) {
  EXPECT_EQ(without_parameters("ns::f<int>(int) const [clone .part.0]"), "ns::f");
  EXPECT_EQ(without_parameters("f"), "f");
  EXPECT_EQ(without_parameters("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
  EXPECT_EQ(without_parameters("std::vector<int, std::allocator<int> >::push_back(int const&)"),
            "std::vector::push_back");
  EXPECT_EQ(without_parameters("S::operator()(int) const"), "S::operator()");
  EXPECT_EQ(without_parameters("operator<<(std::ostream&, S const&)"), "operator<<");
  EXPECT_EQ(without_parameters("S::operator< <int>(int)"), "S::operator<");
  EXPECT_EQ(without_parameters("S::operator bool() const"), "S::operator bool");
  EXPECT_EQ(without_parameters("S::operator->()"), "S::operator->");
  EXPECT_EQ(without_parameters("main::{lambda(int)#1}::operator()(int) const"),
            "main::{lambda(int)#1}::operator()");
  EXPECT_EQ(without_parameters("f(int)::{lambda()#1}::operator()() const"),
            "f::{lambda()#1}::operator()");
  EXPECT_EQ(without_parameters("to_text[abi:cxx11](int)"), "to_text");
  EXPECT_EQ(without_parameters("<shop::Order as core::fmt::Display>::fmt"),
            "<shop::Order as core::fmt::Display>::fmt");
  EXPECT_EQ(without_parameters("core::ptr::drop_in_place::<alloc::string::String>"),
            "core::ptr::drop_in_place");
  EXPECT_EQ(without_parameters(""), "");
}

TEST(LastComponent, IsWhatStandsBehindTheLastScope) {
  EXPECT_EQ(last_component("ns::f"), "f");
  EXPECT_EQ(last_component("f"), "f");
  EXPECT_EQ(last_component("(anonymous namespace)::f"), "f");
  EXPECT_EQ(last_component("main::{lambda(ns::T)#1}"), "{lambda(ns::T)#1}");
  EXPECT_EQ(last_component("<a::B as c::D>::fmt"), "fmt");
}

TEST(ColdParts, AreToldByTheirEnding) {
  EXPECT_EQ(owner_of_cold_part("f.cold"), "f");
  EXPECT_EQ(owner_of_cold_part("f.cold.3"), "f");
  EXPECT_EQ(owner_of_cold_part("f.isra.0.cold"), "f.isra.0");
  EXPECT_EQ(owner_of_cold_part("f.colder"), "");
  EXPECT_EQ(owner_of_cold_part("f.cold.x"), "");
  EXPECT_EQ(owner_of_cold_part("f.cold."), "");
  EXPECT_EQ(owner_of_cold_part(".cold"), "");
  EXPECT_EQ(owner_of_cold_part("f"), "");
}

TEST(EditDistance, CountsSwapsOnce) {
  constexpr std::size_t no_limit = SIZE_MAX;
  EXPECT_EQ(edit_distance("main", "mian", no_limit), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting", no_limit), 3U);
  EXPECT_EQ(edit_distance("", "abc", no_limit), 3U);
  EXPECT_EQ(edit_distance("abc", "abc", no_limit), 0U);
  EXPECT_EQ(edit_distance("ca", "abc", no_limit), 3U); // optimal string alignment, not Damerau's 2
  EXPECT_EQ(edit_distance("kitten", "sitting", 2), 2U);
  EXPECT_EQ(edit_distance("a", "abcdef", 3), 3U);
}

TEST(SameSource, ComparesAsFarAsTheShorterPathGoes) {
  EXPECT_FALSE(same_source("/home/a/src/main.cpp", "/build/a/src/main.cpp")); // /home is not /build
  EXPECT_TRUE(same_source("/home/a/src/main.cpp", "src/main.cpp"));
  EXPECT_TRUE(same_source("main.cpp", "/home/a/src/main.cpp"));
  EXPECT_TRUE(same_source("./src/../src/main.cpp", "/a/src/main.cpp"));
  EXPECT_FALSE(same_source("lib/main.cpp", "/home/a/src/main.cpp"));
  EXPECT_FALSE(same_source("ain.cpp", "main.cpp"));
  EXPECT_FALSE(same_source("", ""));
  EXPECT_FALSE(same_source("", "main.cpp"));
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

TEST_F(Names, NearOnesAreOfferedNearestFirst) {
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
