// The first calls of an order, out of many: those that cannot belong to them are dropped as soon as
// twice as many as wanted are held.
#pragma once

#include "cache/reading/call_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace ptlens::measure {

struct RankedCall {
  std::uint64_t key = 0; // the least first
  std::uint64_t start = 0;
  std::uint32_t thread = 0;
  std::uint32_t order = 0;
  cache::CallRef call;
  bool marked = false; // as the user of the class likes

  [[nodiscard]] auto rank() const { return std::tuple(key, start, thread, order); }
};

class FirstCalls {
public:
  explicit FirstCalls(std::size_t wanted) : wanted_(wanted) {}

  // Returns whether a call with this key may belong to them.
  [[nodiscard]] bool may_take(std::uint64_t key) const { return wanted_ > 0 && key <= limit_; }
  void take(const RankedCall& call) {
    calls_.push_back(call);
    if (calls_.size() / 2 >= wanted_ + least_spare) {
      drop();
    }
  }
  void take(const FirstCalls& others) {
    calls_.insert(calls_.end(), others.calls_.begin(), others.calls_.end());
    drop();
  }

  // Returns them in order.
  [[nodiscard]] std::vector<RankedCall> finish() {
    drop();
    std::ranges::sort(calls_, {}, &RankedCall::rank);
    return std::move(calls_);
  }

private:
  static constexpr std::size_t least_spare = 1024;

  void drop() {
    if (calls_.size() <= wanted_) {
      return;
    }
    const auto end = calls_.begin() + static_cast<std::ptrdiff_t>(wanted_);
    std::ranges::nth_element(calls_, end, {}, &RankedCall::rank);
    limit_ = std::min(limit_, end->key);
    calls_.erase(end, calls_.end());
  }

  std::size_t wanted_;
  std::uint64_t limit_ = UINT64_MAX; // greater keys are not among them
  std::vector<RankedCall> calls_;
};

} // namespace ptlens::measure
