// Rows that are written as text, against JSON written by hand and nlohmann's parser.
#include "export/json/json_text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

namespace ptlens::exporting {
namespace {

TEST(JsonRows, RowsWithObjects) {
  JsonRows rows;
  for (const std::uint64_t number : {std::uint64_t{7}, std::numeric_limits<std::uint64_t>::max()}) {
    rows.begin();
    rows.begin("inside");
    rows.field("number", number);
    rows.field("none", nullptr);
    rows.end();
    rows.field("name", "f");
    rows.begin("empty");
    rows.end();
    rows.end();
  }
  EXPECT_EQ(dump(rows.take()),
            R"([{"inside":{"number":7,"none":null},"name":"f","empty":{}},)"
            R"({"inside":{"number":18446744073709551615,"none":null},"name":"f","empty":{}}])");
}

TEST(JsonRows, LinesAreTakenSomeAtATime) {
  JsonRows rows(JsonRows::Between::lines);
  EXPECT_EQ(rows.take_lines(), "");
  rows.begin();
  rows.field("tid", std::int32_t{-1});
  rows.field("tail_call", false);
  rows.begin("inside");
  rows.end();
  rows.end();
  rows.begin();
  rows.field("self", std::optional<std::uint64_t>());
  rows.field("bounds", 3, std::nullopt);
  rows.end();
  EXPECT_EQ(rows.take_lines(), "{\"tid\":-1,\"tail_call\":false,\"inside\":{}}\n"
                               "{\"self\":null,\"bounds\":[3,null]}\n");
  rows.begin();
  rows.field("self", std::optional<std::uint64_t>(5));
  rows.field("bounds", 3, 4);
  rows.end();
  EXPECT_EQ(rows.take_lines(), "{\"self\":5,\"bounds\":[3,4]}\n");
  EXPECT_EQ(rows.take_lines(), "");
}

// What is written does not depend on how long the text was expected to be.
TEST(JsonRows, TextOutgrowsItsRoom) {
  for (const std::size_t bytes : {0U, 1U, 7U, 4096U}) {
    JsonRows rows(JsonRows::Between::commas, bytes);
    Json expected = Json::array();
    for (std::uint64_t i = 0; i < 300; ++i) {
      rows.begin();
      rows.field("i", i);
      rows.field("name", std::string(i % 41, 'x'));
      rows.end();
      expected.push_back({{"i", i}, {"name", std::string(i % 41, 'x')}});
    }
    EXPECT_EQ(rows.size() + 1, dump(expected).size());
    EXPECT_EQ(dump(rows.take()), dump(expected)) << bytes;
  }
}

TEST(JsonRows, RowsContainListsAndTrees) {
  JsonRows rows = JsonRows::list(2);
  for (const std::uint64_t inside : {0U, 2U}) {
    rows.begin();
    rows.begin_list("path");
    for (std::uint64_t at = 0; at < inside; ++at) {
      rows.begin();
      rows.field("at", at);
      rows.end();
    }
    rows.end_list();
    rows.tree("wait", {{"reason", "lock"}, {"holders", Json::array({1, "a\"b"})}});
    rows.end();
  }
  EXPECT_EQ(dump(rows.take()),
            R"([{"path":[],"wait":{"reason":"lock","holders":[1,"a\"b"]}},)"
            R"({"path":[{"at":0},{"at":1}],"wait":{"reason":"lock","holders":[1,"a\"b"]}}])");
}

TEST(JsonRows, NoRows) {
  EXPECT_EQ(dump(JsonRows().take()), "[]");
}

TEST(JsonRows, NumbersAreReadAsTheyWere) {
  for (const double number :
       {0.0, -0.0, 1.0, -2.5, 0.1, 1e15, 1e16, 1e300, 5e-324, 1.0 / 3, 12e9}) {
    JsonRows rows;
    rows.begin();
    rows.field("n", number);
    rows.end();
    const Json read = Json::parse(dump(rows.take()));
    EXPECT_TRUE(read[0]["n"].is_number_float()) << number;
    EXPECT_EQ(read[0]["n"].get<double>(), number);
  }
  JsonRows rows;
  rows.begin();
  rows.field("n", std::nan(""));
  rows.field("i", std::numeric_limits<double>::infinity());
  rows.end();
  EXPECT_EQ(dump(rows.take()), R"([{"n":null,"i":null}])");
}

// The printer that has always been used is the judge.
TEST(JsonRows, TextIsEscaped) {
  for (const std::string text :
       {"", "plain \x7f", "a\"b\\c/", "line\nfeed\t\x01", "\xc3\xa4 \xe2\x82\xac",
        "not UTF-8: \xff\xc3", "\xf0\x9f\x98\x80"}) {
    JsonRows rows;
    rows.begin();
    rows.field("t", text);
    rows.end();
    const Json expected = Json::array({{{"t", text}}});
    EXPECT_EQ(dump(rows.take()), dump(expected)) << text;
  }
}

TEST(Dump, ListsThatAreTextStandInObjectsInObjects) {
  JsonRows rows;
  rows.begin();
  rows.field("a", std::uint64_t{1});
  rows.end();
  const Json json = {{"id", 3},
                     {"result", {{"e\"", "x"}, {"rows", rows.take()}, {"last", {1, 2}}}}};
  const std::string expected = R"({"id":3,"result":{"e\"":"x","rows":[{"a":1}],"last":[1,2]}})";
  EXPECT_EQ(dump(json), expected);
  std::ostringstream out;
  print(json, out);
  EXPECT_EQ(out.str(), expected);
}

} // namespace
} // namespace ptlens::exporting
