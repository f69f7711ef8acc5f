// A set of calls, identified by thread and number of opening, with one bit per call.
#pragma once

#include "stacks/calls/call.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::cache {

class OrderSet {
public:
  // `sizes`: the number of all calls, by thread.
  explicit OrderSet(std::span<const std::uint32_t> sizes) {
    for (const std::uint32_t size : sizes) {
      words_.emplace_back((size + std::size_t{bits} - 1) / bits);
    }
  }

  void add(std::uint32_t thread, stacks::CallId call) {
    const std::uint32_t order = index_of(call);
    if (order / bits < words_[thread].size()) {
      words_[thread][order / bits] |= std::uint64_t{1} << (order % bits);
    }
  }

  // Adds the calls of a set of the same sizes.
  void add(const OrderSet& other) {
    for (std::size_t thread = 0; thread < words_.size(); ++thread) {
      for (std::size_t word = 0; word < words_[thread].size(); ++word) {
        words_[thread][word] |= other.words_[thread][word];
      }
    }
  }

  [[nodiscard]] bool has(std::uint32_t thread, stacks::CallId call) const {
    const std::uint32_t order = index_of(call);
    return order / bits < words_[thread].size() &&
           ((words_[thread][order / bits] >> (order % bits)) & 1) != 0;
  }

private:
  static constexpr std::uint32_t bits = 64;

  std::vector<std::vector<std::uint64_t>> words_; // by thread
};

} // namespace ptlens::cache
