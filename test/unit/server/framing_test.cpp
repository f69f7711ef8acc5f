// The base protocol, in pieces of every size.
#include "server/rpc/framing.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ptlens::server {
namespace {

struct Seen {
  std::vector<std::string> messages;
  std::vector<std::string> faults;
  bool inside = false;
};

Seen read(std::string_view bytes, std::size_t piece) {
  Seen seen;
  FrameReader reader([&](const std::string& body) { seen.messages.push_back(body); },
                     [&](const std::string& what) { seen.faults.push_back(what); });
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.feed(bytes.substr(at, piece));
  }
  seen.inside = reader.inside_message();
  return seen;
}

using Texts = std::vector<std::string>;

class Framing : public testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Pieces, Framing, testing::Values(1, 2, 3, 7, 1000));

TEST_P(Framing, MessagesOneAfterTheOther) {
  const Seen seen = read("Content-Length: 2\r\n\r\n{}Content-Length: 5\r\n\r\n[1,2]", GetParam());
  EXPECT_EQ(seen.messages, (Texts{"{}", "[1,2]"}));
  EXPECT_TRUE(seen.faults.empty());
  EXPECT_FALSE(seen.inside);
}

TEST_P(Framing, HeaderOrderCaseAndBlanksDoNotMatter) {
  const Seen seen = read("Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n"
                         "X-Other: y\r\ncontent-LENGTH:\t2 \r\n\r\n{}",
                         GetParam());
  EXPECT_EQ(seen.messages, (Texts{"{}"}));
  EXPECT_TRUE(seen.faults.empty());
}

TEST_P(Framing, BareLineFeedsAndEmptyLinesBetweenMessages) {
  const Seen seen =
      read("\r\n\nContent-Length: 2\n\n{}\r\nContent-Length: 2\r\n\r\n[]", GetParam());
  EXPECT_EQ(seen.messages, (Texts{"{}", "[]"}));
  EXPECT_TRUE(seen.faults.empty());
}

TEST_P(Framing, BodyMayHoldAHeader) {
  const std::string body = "Content-Length: 3\r\n\r\nabc";
  const Seen seen =
      read("Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body, GetParam());
  EXPECT_EQ(seen.messages, (Texts{body}));
}

TEST_P(Framing, BadLengthsAreSaidAndReadingGoesOn) {
  for (const char* length : {"-1", "", "abc", "12x", "0x10", "99999999999999999999999", "1 2"}) {
    const Seen seen =
        read("Content-Length: " + std::string(length) + "\r\n\r\nContent-Length: 2\r\n\r\n{}",
             GetParam());
    EXPECT_EQ(seen.faults, (Texts{"Content-Length is not a number of bytes"})) << length;
    EXPECT_EQ(seen.messages, (Texts{"{}"})) << length;
  }
}

TEST_P(Framing, MissingAndContradictingLengths) {
  EXPECT_EQ(read("X: 1\r\n\r\n", GetParam()).faults, (Texts{"Content-Length is missing"}));
  EXPECT_EQ(read("Content-Length: 1\r\nContent-Length: 2\r\n\r\na", GetParam()).faults,
            (Texts{"Content-Length is given twice, differently"}));
  EXPECT_EQ(read("rubbish\r\n\r\n", GetParam()).faults, (Texts{"a header line has no colon"}));
}

TEST_P(Framing, OtherCharsetsAreRefusedWithTheirBody) {
  const Seen seen = read("Content-Type: x; charset=utf-16\r\nContent-Length: 2\r\n\r\n{}"
                         "Content-Length: 2\r\n\r\n[]",
                         GetParam());
  EXPECT_EQ(seen.faults.size(), 1U);
  EXPECT_EQ(seen.messages, (Texts{"[]"}));
}

TEST_P(Framing, EndInsideAMessageIsKnown) {
  const std::string whole = "Content-Length: 4\r\n\r\nnull";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const Seen seen = read(whole.substr(0, length), GetParam());
    EXPECT_EQ(seen.inside, length > 0 && length < whole.size()) << length;
  }
}

TEST(FramingOnce, EmptyBodyIsAMessage) {
  EXPECT_EQ(read("Content-Length: 0\r\n\r\n", 1).messages, (Texts{""}));
}

TEST(FramingOnce, TooLongAMessageIsSkippedWhole) {
  const std::uint64_t length = longest_message + 1;
  Seen seen;
  FrameReader reader([&](const std::string& body) { seen.messages.push_back(body); },
                     [&](const std::string& what) { seen.faults.push_back(what); });
  reader.feed("Content-Length: " + std::to_string(length) + "\r\n\r\n");
  const std::string piece(1 << 20, '{');
  for (std::uint64_t sent = 0; sent < length; sent += piece.size()) {
    reader.feed(std::string_view(piece).substr(0, length - sent));
  }
  reader.feed("Content-Length: 2\r\n\r\n{}");
  EXPECT_EQ(seen.faults, (Texts{"the message is longer than 67108864 bytes"}));
  EXPECT_EQ(seen.messages, (Texts{"{}"}));
}

TEST(FramingOnce, TwoGibibytesAreNotReserved) {
  const Seen seen = read("Content-Length: 2147483648\r\n\r\n{}", 1);
  EXPECT_EQ(seen.faults.size(), 1U);
  EXPECT_TRUE(seen.messages.empty());
  EXPECT_TRUE(seen.inside);
}

TEST(FramingOnce, EndlessHeaderIsGivenUp) {
  const Seen seen = read(std::string(20'000, 'a'), 64);
  EXPECT_EQ(seen.faults, (Texts(2, "the header is longer than 8192 bytes")));
}

} // namespace
} // namespace ptlens::server
