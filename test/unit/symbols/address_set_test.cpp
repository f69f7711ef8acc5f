// Sets of addresses. Each is compared with a list of the same addresses.
#include "symbols/addresses/address_set.hpp"

#include <gtest/gtest.h>

#include <bitset>
#include <cstdint>
#include <random>

namespace ptlens::symbols {
namespace {

constexpr std::uint64_t all = 200;

TEST(AddressSets, TellTheLongestRangeAroundAnAddress) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    AddressSet set;
    std::bitset<all> in;
    for (int ranges = round % 12; ranges > 0; --ranges) {
      const std::uint64_t low = random() % (all - 20);
      const std::uint64_t high = low + random() % 20;
      set.add({.low = low, .high = high});
      for (std::uint64_t address = low; address < high; ++address) {
        in.set(address);
      }
    }
    for (std::uint64_t address = 0; address < all; ++address) {
      EXPECT_EQ(set.contains(address), in[address]);
      std::uint64_t low = address;
      while (low > 0 && in[low - 1] == in[address]) {
        --low;
      }
      std::uint64_t high = address + 1;
      while (high < all && in[high] == in[address]) {
        ++high;
      }
      const AddressRange around = set.around(address);
      EXPECT_EQ(around.low, low);
      EXPECT_EQ(around.high, high == all ? UINT64_MAX : high); // no range reaches the last address
    }
  }
}

} // namespace
} // namespace ptlens::symbols
