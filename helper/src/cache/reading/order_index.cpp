// Uses bits or a list, whichever is smaller.
#include "cache/reading/order_index.hpp"

#include <algorithm>

namespace ptlens::cache {

OrderIndex::OrderIndex(std::span<const std::uint32_t> orders) {
  if (orders.empty()) {
    return;
  }
  constexpr std::uint64_t bits_per_number = 64;
  const auto [least, most] = std::ranges::minmax(orders);
  first_ = least;
  const std::uint64_t range = std::uint64_t{most} - least + 1;
  if (range / bits_per_number > orders.size()) {
    list_.assign(orders.begin(), orders.end());
    std::ranges::sort(list_);
    const auto repeats = std::ranges::unique(list_);
    list_.erase(repeats.begin(), repeats.end());
    size_ = list_.size();
    return;
  }
  bits_.resize((range + word_bits - 1) / word_bits);
  for (const std::uint32_t order : orders) {
    const std::uint64_t at = order - first_;
    bits_[at / word_bits] |= std::uint64_t{1} << (at % word_bits);
  }
  before_.reserve(bits_.size());
  std::uint32_t before = 0;
  for (const std::uint64_t word : bits_) {
    before_.push_back(before);
    before += static_cast<std::uint32_t>(std::popcount(word));
  }
  size_ = before;
}

std::uint32_t OrderIndex::rank_in_list(std::uint32_t order) const {
  const auto at = std::ranges::lower_bound(list_, order);
  return at != list_.end() && *at == order ? static_cast<std::uint32_t>(at - list_.begin()) : none;
}

} // namespace ptlens::cache
