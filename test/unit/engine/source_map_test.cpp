// Where sources are: whole directories only, the first that fits.
#include "engine/recording/source_map.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

namespace ptlens::engine {
namespace {

SourceMap map_of(std::initializer_list<std::string_view> pairs) {
  SourceMap map;
  for (const std::string_view pair : pairs) {
    map.push_back(parse_source_map(pair).value());
  }
  return map;
}

TEST(SourceMap, MapsPathsInItsFolders) {
  const SourceMap map = map_of({"/build/shop/=/home/me/shop/", "/build=/opt", "rel=/r"});
  EXPECT_EQ(mapped_path(map, "/build/shop/src/a.cpp"), "/home/me/shop/src/a.cpp");
  EXPECT_EQ(mapped_path(map, "/build/shop"), "/home/me/shop");
  EXPECT_EQ(mapped_path(map, "/build/shopping/a.cpp"), "/opt/shopping/a.cpp");
  EXPECT_EQ(mapped_path(map, "/builds/a.cpp"), "/builds/a.cpp");
  EXPECT_EQ(mapped_path(map, "rel/a.cpp"), "/r/a.cpp");
  EXPECT_EQ(mapped_path(map, ""), "");
  EXPECT_EQ(mapped_path(map_of({"/=/mnt"}), "/a.cpp"), "/mnt/a.cpp");
  EXPECT_EQ(mapped_path(map_of({"/a=/"}), "/a/b.cpp"), "/b.cpp");
}

TEST(SourceMap, IsParsedFromFromEqualsTo) {
  for (const char* bad : {"", "=", "/a", "/a=", "=/b"}) {
    const auto parsed = parse_source_map(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().kind, Error::Kind::bad_input);
  }
  EXPECT_EQ(parse_source_map("/a=/b=c").value().to, "/b=c");
}

TEST(SourceMap, ChangesFunctionsAndCallSites) {
  measure::Measurement measurement;
  measurement.functions.resize(2);
  measurement.functions[0_fn].file = "/build/a.cpp";
  measurement.sites.resize(1);
  measurement.sites[0_site].file = "/build/b.cpp";
  map_sources(map_of({"/build=/src"}), measurement);
  EXPECT_EQ(measurement.functions[0_fn].file, "/src/a.cpp");
  EXPECT_EQ(measurement.functions[1_fn].file, "");
  EXPECT_EQ(measurement.sites[0_site].file, "/src/b.cpp");
}

} // namespace
} // namespace ptlens::engine
