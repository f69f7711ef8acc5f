// Elements stay in place and keep their values across the ends of chunks.
#include "base/stable_vector.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace ptlens {
namespace {

TEST(StableVector, NeverMovesAnElement) {
  constexpr std::size_t count = 5000; // several chunks
  StableVector<std::size_t> vector;
  std::vector<const std::size_t*> places;
  for (std::size_t index = 0; index < count; ++index) {
    vector.push_back(3 * index);
    places.push_back(&vector[index]);
  }
  ASSERT_EQ(vector.size(), count);
  for (std::size_t index = 0; index < count; ++index) {
    EXPECT_EQ(vector[index], 3 * index);
    EXPECT_EQ(&vector[index], places[index]);
  }
}

} // namespace
} // namespace ptlens
