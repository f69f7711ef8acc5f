// Names of real functions, as c++filt and rustfilt print them, and what they are called in the
// source.
#include "measure/names/names.hpp"
#include "measure/recordings.hpp"
#include "symbols/names/name_shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ptlens::measure {
namespace {

using symbols::NameShape;
using symbols::other_shapes;
using symbols::shape_of;

struct Named {
  const char* full;
  const char* plain;
  const char* last;
};

class Names : public testing::TestWithParam<Named> {};

TEST_P(Names, AreParsed) {
  const NameShape shape = shape_of(GetParam().full);
  EXPECT_EQ(shape.plain, GetParam().plain);
  EXPECT_EQ(shape.last(), GetParam().last);
}

INSTANTIATE_TEST_SUITE_P(
    C, Names,
    testing::Values(Named{"main", "main", "main"}, Named{"foo.isra.0", "foo", "foo"},
                    Named{"foo.constprop.0.isra.0", "foo", "foo"}, Named{"foo.cold", "foo", "foo"},
                    Named{"_start", "_start", "_start"},
                    Named{"operator_new_order", "operator_new_order", "operator_new_order"},
                    Named{"malloc@plt", "malloc@plt", "malloc@plt"}, Named{"", "", ""}));

INSTANTIATE_TEST_SUITE_P(
    Cpp, Names,
    testing::Values(
        Named{"ns::C::f(int, char const*)", "ns::C::f", "f"},
        Named{"ns::C<int, 4>::f(int) const", "ns::C::f", "f"},
        Named{"void ns::f<std::vector<int, std::allocator<int> > >(int)", "ns::f", "f"},
        Named{"std::enable_if<(4>3), int>::type ns::g<int>(int)", "ns::g", "g"},
        Named{"decltype(auto) std::visit<A, B>(A&&, B&&)", "std::visit", "visit"},
        Named{"decltype (1) h<int>()", "h", "h"}, Named{"C::~C()", "C::~C", "~C"},
        Named{"C::operator()(int) const", "C::operator()", "operator()"},
        Named{"std::ostream& operator<< <int>(std::ostream&, int)", "operator<<", "operator<<"},
        Named{"bool operator< <int>(A<int> const&, A<int> const&)", "operator<", "operator<"},
        Named{"ns::P::operator->() const", "ns::P::operator->", "operator->"},
        Named{"ns::P::operator[](unsigned long)", "ns::P::operator[]", "operator[]"},
        Named{"operator new[](unsigned long)", "operator new[]", "operator new[]"},
        Named{"C::operator bool() const", "C::operator bool", "operator bool"},
        Named{"operator\"\" _km(long double)", "operator\"\" _km", "operator\"\" _km"},
        Named{"apply<&C::operator>(int)>(C)::run()", "apply::run", "run"},
        Named{"(anonymous namespace)::f(int)", "(anonymous namespace)::f", "f"},
        Named{"main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()",
              "operator()"},
        Named{"ns::f(int)::Local::g()", "ns::f::Local::g", "g"},
        Named{"ns::C::f() const::{lambda()#2}::operator()() const",
              "ns::C::f::{lambda()#2}::operator()", "operator()"},
        Named{"make[abi:cxx11](int)", "make", "make"},
        Named{"f(int) [clone .constprop.0]", "f", "f"}, Named{"f(int) [clone .cold]", "f", "f"},
        Named{"non-virtual thunk to A::f(int)", "non-virtual thunk to A::f(int)",
              "non-virtual thunk to A::f(int)"},
        Named{"std::function<void (int)>::operator()(int) const", "std::function::operator()",
              "operator()"}));

INSTANTIATE_TEST_SUITE_P(
    Rust, Names,
    testing::Values(Named{"core::fmt::write::h0123456789abcdef", "core::fmt::write", "write"},
                    Named{"<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend",
                          "<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend", "extend"},
                    Named{"orders::take::<u64, std::vec::Vec<u8>>", "orders::take", "take"},
                    Named{"orders::Book::<i32>::add", "orders::Book::add", "add"},
                    Named{"orders::run::{closure#0}", "orders::run::{closure#0}", "{closure#0}"},
                    Named{"orders::run::{{closure}}", "orders::run::{{closure}}", "{{closure}}"}));

INSTANTIATE_TEST_SUITE_P(
    Go, Names,
    testing::Values(Named{"main.main", "main.main", "main"},
                    Named{"main.(*Order).Price", "main.(*Order).Price", "Price"},
                    Named{"main.Most[go.shape.int]", "main.Most", "Most"},
                    Named{"example.com/a-b/c.d/sub.(*Shelf[go.shape.struct { A.B int }]).Take",
                          "example.com/a-b/c.d/sub.(*Shelf).Take", "Take"},
                    Named{"main.main.func1.2", "main.main.func1.2", "2"},
                    Named{"printf_like(char const*, ...)", "printf_like", "printf_like"},
                    Named{"f(...)", "f", "f"}));

TEST(NameShape, AcceptsDifferentSpellings) {
  const auto plains = [](std::string_view full) {
    std::vector<std::string> names;
    for (const NameShape& shape : other_shapes(full)) {
      names.push_back(shape.plain);
    }
    return names;
  };
  using List = std::vector<std::string>;
  EXPECT_EQ(plains("<shop::Order as core::fmt::Display>::fmt"),
            (List{"shop::Order::fmt", "core::fmt::Display::fmt"}));
  EXPECT_EQ(plains("<alloc::vec::Vec<T> as Extend<T>>::extend"),
            (List{"alloc::vec::Vec::extend", "Extend::extend"}));
  EXPECT_EQ(plains("<shop::Order>::new"), List{"shop::Order::new"});
  EXPECT_EQ(plains("main.(*Order).Price"), List{"main.Order.Price"});
  EXPECT_EQ(plains("shop::f(int)"), List{});
  EXPECT_EQ(plains("<"), List{});
}

TEST(NameShape, SurvivesAnyText) {
  std::mt19937 random(7);
  const std::vector<std::string> pieces = {"(",
                                           ")",
                                           "<",
                                           ">",
                                           "{",
                                           "}",
                                           "[",
                                           "]",
                                           "::",
                                           " ",
                                           ",",
                                           "operator",
                                           "->",
                                           "\"",
                                           "a",
                                           "const",
                                           "(anonymous namespace)",
                                           "decltype",
                                           ".cold",
                                           " [clone ",
                                           "\n",
                                           "@0x1",
                                           ".",
                                           ".(*",
                                           "/",
                                           " as ",
                                           "::h0123456789abcdef"};
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::size_t left = random() % 12; left > 0; --left) {
      text += pieces[random() % pieces.size()];
    }
    const NameShape shape = shape_of(text);
    static_cast<void>(other_shapes(text));
    ASSERT_LE(shape.parameters, text.size());
    ASSERT_LE(shape.written.back(), text.size());
    ASSERT_FALSE(shape.components.empty());
    EXPECT_LE(shape.components.back(), shape.plain.size());
    EXPECT_TRUE(std::ranges::is_sorted(shape.components));
  }
}

TEST(NameShape, LongNestingTakesNoNativeStack) {
  std::string text = "f";
  for (const char* piece : {"<", "(", "operator\"<", "operator <", "{"}) {
    std::string deep = text;
    for (int level = 0; level < 20'000; ++level) {
      deep += piece;
    }
    EXPECT_FALSE(shape_of(deep).plain.empty());
  }
}

TEST(PathEnds, AreSharedByWholeComponents) {
  EXPECT_EQ(shared_path_end("/usr/lib/libfoo.so", "libfoo.so"), 1U);
  EXPECT_EQ(shared_path_end("/usr/lib/libfoo.so", "foo.so"), 0U);
  EXPECT_EQ(shared_path_end("/usr/lib/libfoo.so", "lib/libfoo.so"), 2U);
  EXPECT_EQ(shared_path_end("src/a.cpp", "/home/me/src/a.cpp"), 2U);
  EXPECT_EQ(shared_path_end("/other/a.cpp", "/src/a.cpp"), 0U);
  EXPECT_EQ(shared_path_end("/src//./a.cpp", "./src/a.cpp"), 2U);
  EXPECT_EQ(shared_path_end("/", "a.cpp"), 0U);
  EXPECT_EQ(shared_path_end("", ""), 0U);
}

TEST(NearestNames, AreOrderedByEdits) {
  test::Recording m;
  for (const char* name : {"ns::place_order(int)", "place_orders", "cancel_order", "main",
                           "ns::place_order(char)", "place_order@plt", "plaice_odder", "x"}) {
    test::add_function(m, name);
  }
  // Edits from "place_ordr": 1, 2, 3 (plaice_odder: +i, d for r, +e), 7, 8.
  EXPECT_EQ(nearest_names(m, "place_ordr", 3),
            (std::vector<std::string>{"ns::place_order", "place_orders", "plaice_odder"}));
  EXPECT_EQ(nearest_names(m, "place_ordr", 0).size(), 0U);
  EXPECT_EQ(nearest_names(m, std::string(100'000, 'z'), 5).size(), 5U);
}

} // namespace
} // namespace ptlens::measure
