// The rank of a call among some calls of its thread, by number of opening: a bit for each number,
// and the count of bits before each word (Jacobson: Space-efficient Static Trees and Graphs, FOCS
// 1989). Where the numbers are sparse, a sorted list.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::cache {

class OrderIndex {
public:
  static constexpr std::uint32_t none = UINT32_MAX;

  explicit OrderIndex(std::span<const std::uint32_t> orders);

  // Returns the number of different orders.
  [[nodiscard]] std::size_t size() const { return size_; }
  // Returns the number of lower orders; `none` where the order is not in the index.
  [[nodiscard]] std::uint32_t rank(std::uint32_t order) const {
    if (bits_.empty()) {
      return rank_in_list(order);
    }
    const std::uint64_t at = std::uint64_t{order} - first_; // below first_: beyond all words
    const std::uint64_t word = at / word_bits;
    if (word >= bits_.size()) {
      return none;
    }
    const std::uint64_t bit = std::uint64_t{1} << (at % word_bits);
    if ((bits_[word] & bit) == 0) {
      return none;
    }
    return before_[word] + static_cast<std::uint32_t>(std::popcount(bits_[word] & (bit - 1)));
  }

private:
  static constexpr std::uint64_t word_bits = 64;

  [[nodiscard]] std::uint32_t rank_in_list(std::uint32_t order) const;

  std::uint64_t first_ = 0;
  std::size_t size_ = 0;
  std::vector<std::uint64_t> bits_;
  std::vector<std::uint32_t> before_; // by word
  std::vector<std::uint32_t> list_;   // ascending
};

} // namespace ptlens::cache
