// The addresses that compressed returns go to: at most 64, the oldest one is dropped (SDM vol. 3,
// "RET compression").
#pragma once

#include "flow/code/code_graph.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace ptlens::flow {

class ReturnStack {
public:
  void push(ReturnPoint point) {
    top_ = (top_ + 1) % entries;
    points_[top_] = point;
    size_ += size_ == entries ? 0 : 1;
  }
  void clear() { size_ = 0; }
  // Keeps the addresses, because the processor's stack continues in another thread or in other
  // code, but drops the blocks, which belong to another graph.
  void forget_blocks() {
    for (ReturnPoint& point : points_) {
      point.block = no_block;
    }
  }
  // Returns the newest entry, which is valid while the stack is not empty.
  [[nodiscard]] const ReturnPoint& top() const { return points_[top_]; }
  // Returns true where the newest entry is the address, and its block is known.
  [[nodiscard]] bool leads_to(std::uint64_t address) const {
    return size_ != 0 && points_[top_].address == address && points_[top_].block != no_block;
  }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  // Removes and returns the newest entry, nullopt where the stack is empty.
  std::optional<ReturnPoint> pop() {
    if (size_ == 0) {
      return std::nullopt;
    }
    const ReturnPoint point = points_[top_];
    top_ = (top_ + entries - 1) % entries;
    --size_;
    return point;
  }

private:
  static constexpr std::size_t entries = 64;
  std::array<ReturnPoint, entries> points_{};
  std::size_t top_ = 0;
  std::size_t size_ = 0;
};

} // namespace ptlens::flow
