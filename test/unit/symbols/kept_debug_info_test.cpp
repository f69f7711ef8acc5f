// Debug information in a file of its own, and files that are damaged.
#include "symbols/dwarf/kept_debug_info.hpp"

#include <gtest/gtest.h>

namespace ptlens::symbols {
namespace {

DebugInfo example() {
  DebugInfo info;
  info.subprograms.push_back(
      {.entry = 0x1000,
       .ranges = {{.low = 0x1000, .high = 0x1080}, {.low = 0x3000, .high = 0x3010}},
       .linkage_name = "_Z5serveRK5Order",
       .file = "/src/serve.cpp",
       .line = 12});
  info.subprograms.push_back(
      {.entry = 0x2000, .ranges = {}, .linkage_name = "", .file = "", .artificial = true});
  info.inlined_names = {"price", "tax"};
  return info;
}

TEST(KeptDebugInfo, IsWhatWasRead) {
  const auto bytes = packed(example(), "key");
  const auto found = unpacked(bytes, "key");
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->subprograms.size(), 2U);
  const Subprogram& first = found->subprograms[0];
  EXPECT_EQ(first.entry, 0x1000U);
  ASSERT_EQ(first.ranges.size(), 2U);
  EXPECT_EQ(first.ranges[1].low, 0x3000U);
  EXPECT_EQ(first.ranges[1].high, 0x3010U);
  EXPECT_EQ(first.linkage_name, "_Z5serveRK5Order");
  EXPECT_EQ(first.file, "/src/serve.cpp");
  EXPECT_EQ(first.line, 12U);
  EXPECT_FALSE(first.artificial);
  EXPECT_TRUE(found->subprograms[1].artificial);
  EXPECT_EQ(found->inlined_names, (std::vector<std::string>{"price", "tax"}));
}

TEST(KeptDebugInfo, OfAnotherKeyIsRefused) {
  EXPECT_FALSE(unpacked(packed(example(), "key"), "other").has_value());
}

TEST(KeptDebugInfo, DamagedIsRefusedWhereverItIsCutOrChanged) {
  const auto bytes = packed(example(), "key");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(unpacked(std::span(bytes).first(size), "key").has_value()) << size;
    auto changed = bytes;
    changed[size] ^= std::byte{0x10};
    EXPECT_FALSE(unpacked(changed, "key").has_value()) << size;
  }
}

} // namespace
} // namespace ptlens::symbols
