// Recognition of code by its bytes.
#include "symbols/machine_code/thunk.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>

namespace ptlens::symbols::test {
namespace {

TEST(Thunks, AreNotReadBeyondTheCode) {
  const std::array<std::byte, 12> call_over_end = {
      std::byte{0xe8}, std::byte{0x07}, std::byte{0},    std::byte{0},
      std::byte{0},    std::byte{0xf3}, std::byte{0x90}, std::byte{0x0f},
      std::byte{0xae}, std::byte{0xe8}, std::byte{0xeb}, std::byte{0xf9}};
  for (std::size_t size = 0; size <= call_over_end.size(); ++size) {
    EXPECT_FALSE(is_thunk_code(std::span(call_over_end).first(size)));
  }
}

} // namespace
} // namespace ptlens::symbols::test
