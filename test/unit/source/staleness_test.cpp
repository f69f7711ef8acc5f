// The staleness of texts and binaries: every value, from small cases written by hand.
#include "source/file_state.hpp"
#include "source/staleness.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

namespace ptlens::source {
namespace {

const std::string file = "/s/a.cpp";

MeasuredSources measured(const std::string& text) {
  MeasuredSources sources;
  sources.files[file] = text_lines(text);
  return sources;
}

TEST(Staleness, OfAMeasuredTextDependsOnTheShownLines) {
  const MeasuredSources sources = measured("one\ntwo\nthree\n");
  const TextLines same = text_lines("one\ntwo\nthree\n");
  const ShownSource current(sources, file, {}, file, &same);
  EXPECT_EQ(current.text(), Staleness::current);
  EXPECT_EQ(current.of(current.was_edited(1, 3), false), Staleness::current);
  EXPECT_EQ(current.of(false, true), Staleness::rebuilt);

  const TextLines changed = text_lines("new\none\ntwo!\nthree\n");
  const ShownSource edited(sources, file, {}, file, &changed);
  EXPECT_EQ(edited.text(), Staleness::edited);
  ASSERT_TRUE(edited.now(3).has_value());
  EXPECT_EQ(edited.now(3)->number, 4U);
  EXPECT_EQ(edited.of(edited.was_edited(2, 2), false), Staleness::edited);
  EXPECT_EQ(edited.of(edited.was_edited(3, 3), false), Staleness::edited_elsewhere);
  EXPECT_EQ(edited.of(edited.was_edited(3, 3), true), Staleness::rebuilt);
  EXPECT_EQ(present_line(sources, file, &changed, 3), 4U);
  EXPECT_EQ(present_line(sources, file, nullptr, 3), 3U);
}

TEST(Staleness, OfAnUnknownTextDependsOnTheTimesOfTheFiles) {
  const std::string folder = testing::TempDir() + "ptlens-staleness";
  std::filesystem::create_directories(folder);
  const std::string source = folder + "/a.cpp";
  const std::string binary = folder + "/app";
  std::ofstream(source) << "text";
  std::ofstream(binary) << "code";
  const std::array binaries = {binary};
  MeasuredSources sources;
  sources.binaries[binary] = {.build_id = {}, .size = 4, .changed_ns = changed_ns(binary)};
  EXPECT_EQ(ShownSource(sources, source, binaries, source, nullptr).text(), Staleness::unknown);
  EXPECT_FALSE(RebuiltBinaries(sources).contains(binary));
  EXPECT_FALSE(RebuiltBinaries(sources).contains("/not/measured"));

  sources.binaries[binary].changed_ns -= 5'000'000'000;
  EXPECT_EQ(ShownSource(sources, source, binaries, source, nullptr).text(),
            Staleness::newer_source);
  EXPECT_TRUE(RebuiltBinaries(sources).contains(binary));
  std::filesystem::remove_all(folder);
}

TEST(Staleness, HasANameForEveryValue) {
  EXPECT_STREQ(name_of(Staleness::current), "current");
  EXPECT_STREQ(name_of(Staleness::unknown), "unknown");
  EXPECT_STREQ(name_of(Staleness::edited_elsewhere), "edited_elsewhere");
  EXPECT_STREQ(name_of(Staleness::newer_source), "newer_source");
  EXPECT_STREQ(name_of(Staleness::rebuilt), "rebuilt");
  EXPECT_STREQ(name_of(Staleness::edited), "edited");
}

} // namespace
} // namespace ptlens::source
