#include "record/temporary_folder.hpp"
#include "record/vdso.hpp"
#include "symbols/binary.hpp"

#include <gtest/gtest.h>

namespace ptlens::record::test {
namespace {

TEST(Vdso, IsAnElfFileWithTheClock) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_vdso(folder / ""));
  const auto binary = symbols::Binary::open(folder / vdso_name);
  ASSERT_TRUE(binary) << binary.error().one_line();
  EXPECT_FALSE((*binary)->find("__vdso_clock_gettime").empty());
}

} // namespace
} // namespace ptlens::record::test
