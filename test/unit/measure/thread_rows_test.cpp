#include "measure/thread_rows.hpp"

#include <gtest/gtest.h>

namespace ptlens::measure {
namespace {

TEST(ThreadRows, RowsOfOneThreadOfOneProcessBelongTogether) {
  const std::vector<stacks::ThreadInfo> rows = {{.pid = 1, .tid = 5, .comm = {}},
                                                {.pid = 1, .tid = 6, .comm = {}},
                                                {.pid = 1, .tid = 5, .comm = {}},
                                                {.pid = 2, .tid = 5, .comm = {}}};
  EXPECT_EQ(first_rows(rows), (std::vector<std::uint32_t>{0, 1, 0, 3}));
  EXPECT_EQ(count_threads(rows), 3U);
}

} // namespace
} // namespace ptlens::measure
