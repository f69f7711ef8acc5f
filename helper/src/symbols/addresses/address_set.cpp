// Adjacent ranges are joined on insertion, so each operation takes logarithmic time.
#include "symbols/addresses/address_set.hpp"

#include <algorithm>
#include <iterator>

namespace ptlens::symbols {

void AddressSet::add(AddressRange range) {
  if (range.low >= range.high) {
    return;
  }
  auto next = ranges_.upper_bound(range.low);
  auto at = next;
  if (next != ranges_.begin() && std::prev(next)->second >= range.low) {
    at = std::prev(next); // extend this range
    at->second = std::max(at->second, range.high);
  } else {
    at = ranges_.emplace_hint(next, range.low, range.high);
  }
  while (next != ranges_.end() && next->first <= at->second) {
    at->second = std::max(at->second, next->second);
    next = ranges_.erase(next);
  }
}

bool AddressSet::contains(std::uint64_t address) const {
  const auto after = ranges_.upper_bound(address);
  return after != ranges_.begin() && std::prev(after)->second > address;
}

AddressRange AddressSet::around(std::uint64_t address) const {
  const auto after = ranges_.upper_bound(address);
  const std::uint64_t next = after == ranges_.end() ? UINT64_MAX : after->first;
  if (after == ranges_.begin()) {
    return {.low = 0, .high = next};
  }
  const auto [low, high] = *std::prev(after);
  return high > address ? AddressRange{.low = low, .high = high}
                        : AddressRange{.low = high, .high = next};
}

std::optional<std::uint64_t> AddressSet::next_start(std::uint64_t address) const {
  const auto next = ranges_.upper_bound(address);
  return next == ranges_.end() ? std::nullopt : std::optional(next->first);
}

} // namespace ptlens::symbols
