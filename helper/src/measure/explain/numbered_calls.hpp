// Numbers a set of calls from 0 on, by thread and then by number of opening: a bit per call, and
// the count of bits before each word (rank; Jacobson, "Space-efficient static trees and graphs",
// FOCS 1989).
#pragma once

#include "stacks/calls/call.hpp"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

class NumberedCalls {
public:
  static constexpr std::uint32_t none = UINT32_MAX;

  // `sizes`: the number of all calls, by thread.
  explicit NumberedCalls(std::span<const std::uint32_t> sizes) {
    for (const std::uint32_t size : sizes) {
      threads_.emplace_back((size + std::size_t{bits} - 1) / bits);
    }
  }

  // Adds a call. All calls must be added before number() is called. Several threads may add calls
  // at the same time.
  void add(std::uint32_t thread, stacks::CallId id) {
    const std::uint32_t order = index_of(id);
    if (thread < threads_.size() && order / bits < threads_[thread].size()) {
      std::atomic_ref(threads_[thread][order / bits].calls)
          .fetch_or(std::uint64_t{1} << (order % bits), std::memory_order_relaxed);
    }
  }

  // Counts the calls. Returns their number.
  std::uint32_t finish() {
    size_ = 0;
    for (std::vector<Word>& words : threads_) {
      for (Word& word : words) {
        word.before = size_;
        size_ += static_cast<std::uint32_t>(std::popcount(word.calls));
      }
    }
    return size_;
  }

  [[nodiscard]] std::uint32_t size() const { return size_; }

  // Returns the number of a call; none for a call that is not in the set.
  [[nodiscard]] std::uint32_t number(std::uint32_t thread, stacks::CallId id) const {
    const std::uint32_t order = index_of(id);
    if (thread >= threads_.size() || order / bits >= threads_[thread].size()) {
      return none;
    }
    const Word& word = threads_[thread][order / bits];
    const std::uint64_t bit = std::uint64_t{1} << (order % bits);
    return (word.calls & bit) == 0
               ? none
               : word.before + static_cast<std::uint32_t>(std::popcount(word.calls & (bit - 1)));
  }

private:
  static constexpr std::uint32_t bits = 64;
  struct Word {
    std::uint64_t calls = 0;
    std::uint32_t before = 0; // calls in the words before
  };

  std::vector<std::vector<Word>> threads_;
  std::uint32_t size_ = 0;
};

} // namespace ptlens::measure
