// Demangling, shapes and distances of names, and paths of sources. The expected values follow from
// the rules in the headers.
#include "symbols/dwarf/source_path.hpp"
#include "symbols/names/demangle.hpp"
#include "symbols/names/edit_distance.hpp"
#include "symbols/names/name_shape.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ptlens::symbols::test {
namespace {

TEST(Demangle, KnowsRustClonesAndVersions) {
  // The names come from the Rust RFC 2603 and from rustc's legacy scheme (Itanium plus a hash).
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

TEST(WithoutParameters, KeepsThePath) {
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

TEST(LastComponent, FollowsTheLastScope) {
  EXPECT_EQ(last_component("ns::f"), "f");
  EXPECT_EQ(last_component("f"), "f");
  EXPECT_EQ(last_component("(anonymous namespace)::f"), "f");
  EXPECT_EQ(last_component("main::{lambda(ns::T)#1}"), "{lambda(ns::T)#1}");
  EXPECT_EQ(last_component("<a::B as c::D>::fmt"), "fmt");
}

TEST(ColdParts, AreRecognisedByTheirEnding) {
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

TEST(SameSource, ComparesTheComponentsOfTheShorterPath) {
  EXPECT_FALSE(same_source("/home/a/src/main.cpp", "/build/a/src/main.cpp")); // /home is not /build
  EXPECT_TRUE(same_source("/home/a/src/main.cpp", "src/main.cpp"));
  EXPECT_TRUE(same_source("main.cpp", "/home/a/src/main.cpp"));
  EXPECT_TRUE(same_source("./src/../src/main.cpp", "/a/src/main.cpp"));
  EXPECT_FALSE(same_source("lib/main.cpp", "/home/a/src/main.cpp"));
  EXPECT_FALSE(same_source("ain.cpp", "main.cpp"));
  EXPECT_FALSE(same_source("", ""));
  EXPECT_FALSE(same_source("", "main.cpp"));
}

TEST(CopyOf, NamesTheOriginalOfCopiesAndParts) {
  const auto original = [](std::string_view name) { return std::string(copy_of(name).original); };
  EXPECT_EQ(original("f.isra.0"), "f");
  EXPECT_EQ(original("f.constprop.0.part.1"), "f");
  EXPECT_EQ(original("_ZL1fi.part.0"), "_ZL1fi");
  EXPECT_EQ(original("f.cold.1"), "f");
  EXPECT_EQ(original("f"), "");
  EXPECT_EQ(original("f.isra"), "");
  EXPECT_EQ(original("f.partial.0"), "");
  EXPECT_EQ(original(".part.0"), "");
  EXPECT_EQ(original("f.lto_priv.0"), ""); // another function with a new name
  EXPECT_TRUE(copy_of("f.isra.0.part.1").part);
  EXPECT_TRUE(copy_of("f.cold.1").part);
  EXPECT_FALSE(copy_of("f.constprop.0").part);
}

} // namespace
} // namespace ptlens::symbols::test
