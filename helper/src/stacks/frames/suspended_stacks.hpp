// The stacks of a thread that wait while another one runs, by the address to which their innermost
// frame returns. For nearly every branch the question is whether a stack waits where it goes, and
// the answer is no: a table of counts by hash gives it quickly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ptlens::stacks {

class SuspendedStacks {
public:
  // `turn` ascends with each suspension.
  void add(std::uint64_t return_address, std::uint64_t turn, std::size_t stack) {
    waiting_.emplace(std::pair(return_address, turn), stack);
    ++counts_[slot(return_address)];
  }
  void remove(std::uint64_t return_address, std::uint64_t turn) {
    if (waiting_.erase({return_address, turn}) != 0) {
      --counts_[slot(return_address)];
    }
  }
  void clear() {
    waiting_.clear();
    counts_ = {};
  }

  [[nodiscard]] bool empty() const { return waiting_.empty(); }
  // Returns false where it is certain that no stack waits.
  [[nodiscard]] bool may_wait_at(std::uint64_t address) const {
    return counts_[slot(address)] != 0;
  }
  [[nodiscard]] bool waits_at(std::uint64_t address) const {
    if (!may_wait_at(address)) {
      return false;
    }
    const auto waiting = waiting_.lower_bound({address, 0});
    return waiting != waiting_.end() && waiting->first.first == address;
  }
  // Returns the indices of the stacks that wait there, longest wait first, at most `most`.
  [[nodiscard]] std::vector<std::size_t> at(std::uint64_t address, std::size_t most) const {
    std::vector<std::size_t> stacks;
    for (auto waiting = waiting_.lower_bound({address, 0});
         waiting != waiting_.end() && waiting->first.first == address && stacks.size() < most;
         ++waiting) {
      stacks.push_back(waiting->second);
    }
    return stacks;
  }

private:
  static constexpr unsigned slot_bits = 12;
  // Multiplicative hashing: Knuth, TAOCP vol. 3, 6.4.
  static std::size_t slot(std::uint64_t address) {
    return (address * 0x9e3779b97f4a7c15U) >> (64U - slot_bits);
  }

  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> waiting_; // by address and turn
  std::array<std::uint32_t, std::size_t{1} << slot_bits> counts_ = {};
};

} // namespace ptlens::stacks
