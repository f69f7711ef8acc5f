// A range of addresses.
#pragma once

#include <cstdint>

namespace ptlens::symbols {

struct AddressRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0; // one past the last byte

  [[nodiscard]] bool contains(std::uint64_t address) const {
    return low <= address && address < high;
  }
};

} // namespace ptlens::symbols
