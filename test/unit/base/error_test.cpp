// The parts of an error's one line.
#include "base/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ptlens {
namespace {

TEST(Error, OneLineContainsEveryPartInOrder) {
  const Error error{.kind = Error::Kind::bad_input,
                    .message = "the record is longer than what is left",
                    .file = "perf.data",
                    .offset = 0x1f0,
                    .remedy = "record again"};
  EXPECT_EQ(error.one_line(),
            "perf.data: offset 0x1f0: the record is longer than what is left; record again");
}

TEST(Error, OneLineOmitsMissingParts) {
  EXPECT_EQ(Error{.message = "no such process"}.one_line(), "no such process");
  EXPECT_EQ((Error{.message = "empty", .file = "a"}.one_line()), "a: empty");
  EXPECT_EQ((Error{.message = "empty", .remedy = "record again"}.one_line()),
            "empty; record again");
  EXPECT_EQ((Error{.message = "empty", .offset = 0}.one_line()), "offset 0x0: empty");
  EXPECT_EQ((Error{.message = "far", .offset = UINT64_MAX}.one_line()),
            "offset 0xffffffffffffffff: far");
}

TEST(Error, OneLineHasNoNewlines) {
  const Error error{.message = "two\nlines\n", .file = "a\nb", .remedy = "\n"};
  const std::string line = error.one_line();
  EXPECT_EQ(std::ranges::count(line, '\n'), 0);
  EXPECT_EQ(line, "a b: two lines ;  ");
}

TEST(Error, BracesInItsTextStayUnchanged) {
  EXPECT_EQ((Error{.message = "{} {0}", .file = "{:x}", .remedy = "{"}.one_line()),
            "{:x}: {} {0}; {");
}

TEST(Result, ContainsEitherTheValueOrTheError) {
  const Result<int> value = 3;
  const Result<int> error = std::unexpected(Error{.kind = Error::Kind::gone, .message = "gone"});
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 3);
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().kind, Error::Kind::gone);
  EXPECT_EQ(Error{}.kind, Error::Kind::failed);
}

} // namespace
} // namespace ptlens
