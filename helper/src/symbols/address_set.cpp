// Ranges that touch are joined as they come, so that each operation takes logarithmic time.
#include "symbols/address_set.hpp"

#include <algorithm>
#include <iterator>

namespace ptlens::symbols {

void AddressSet::add(AddressRange range) {
  if (range.low >= range.high) {
    return;
  }
  auto at = ranges_.upper_bound(range.low);
  if (at != ranges_.begin() && std::prev(at)->second >= range.low) {
    --at;
  }
  while (at != ranges_.end() && at->first <= range.high) {
    range.low = std::min(range.low, at->first);
    range.high = std::max(range.high, at->second);
    at = ranges_.erase(at);
  }
  ranges_.emplace(range.low, range.high);
}

bool AddressSet::holds(std::uint64_t address) const {
  const auto behind = ranges_.upper_bound(address);
  return behind != ranges_.begin() && std::prev(behind)->second > address;
}

std::optional<std::uint64_t> AddressSet::next_start(std::uint64_t address) const {
  const auto next = ranges_.upper_bound(address);
  return next == ranges_.end() ? std::nullopt : std::optional(next->first);
}

} // namespace ptlens::symbols
