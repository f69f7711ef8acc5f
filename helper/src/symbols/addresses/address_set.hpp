// A set of addresses, stored as disjoint ranges.
#pragma once

#include "symbols/addresses/address_range.hpp"

#include <cstdint>
#include <map>
#include <optional>

namespace ptlens::symbols {

class AddressSet {
public:
  // Adds the range. An empty range adds nothing.
  void add(AddressRange range);
  [[nodiscard]] bool contains(std::uint64_t address) const;
  // Returns the longest range around the address whose addresses are all in the set, or all not in
  // it. The last address of all belongs to no range.
  [[nodiscard]] AddressRange around(std::uint64_t address) const;
  // Returns the start of the first range above the address; nothing where there is none.
  [[nodiscard]] std::optional<std::uint64_t> next_start(std::uint64_t address) const;

private:
  std::map<std::uint64_t, std::uint64_t> ranges_; // low to high
};

} // namespace ptlens::symbols
