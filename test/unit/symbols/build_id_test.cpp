#include "symbols/elf/build_id.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ptlens::symbols::test {
namespace {

TEST(BuildId, IsShownInLowerCaseHexadecimal) {
  EXPECT_EQ(build_id_text(std::vector<std::uint8_t>{0x00, 0xab, 0x0f}), "00ab0f");
  EXPECT_EQ(build_id_text({}), "");
}

TEST(BuildId, NamesAFolderByItsFirstByte) {
  EXPECT_EQ(build_id_path("/usr/lib/debug", "00ab0f"), "/usr/lib/debug/.build-id/00/ab0f");
  EXPECT_EQ(build_id_path("/usr/lib/debug", "00"), std::nullopt);
  EXPECT_EQ(build_id_path("/usr/lib/debug", ""), std::nullopt);
}

} // namespace
} // namespace ptlens::symbols::test
