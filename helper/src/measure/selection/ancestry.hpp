// Which calls lie inside marked ones, however far up: up to eight marks at once, thread by thread,
// in one pass over the links from calls to their parents.
#pragma once

#include "cache/call_cache.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

using Marks = std::uint8_t; // a bit each
inline constexpr std::size_t marks_at_once = 8;

class Ancestry {
public:
  // `edges`: indices of those whose calls the ways up lead through.
  Ancestry(const cache::CallCache& store, std::span<const std::uint32_t> edges);

  [[nodiscard]] std::size_t threads() const { return blocks_.size(); }
  // From here on it is about that thread, without marks.
  void enter(std::uint32_t thread);
  // Takes all marks away.
  void clear();
  void mark(std::uint32_t order, Marks marks) {
    if (order < marks_.size()) {
      marks_[order] = static_cast<Marks>(marks_[order] | marks);
    }
  }
  // Hands the marks down. They stand until clear() or enter().
  void settle();
  // The marks of the call and of all that it lies in; none for no_call.
  [[nodiscard]] Marks of(std::uint32_t order) const {
    return order < marks_.size() ? marks_[order] : Marks{0};
  }

private:
  void settle_late(std::uint32_t order);

  const cache::CallCache& store_;
  std::vector<std::vector<const cache::BlockEntry*>> blocks_; // of each thread
  std::span<const std::uint32_t> sizes_;
  std::vector<std::uint32_t> distance_; // to the parent, by order; 0 where it has none
  std::vector<Marks> marks_;
  std::vector<bool> settled_; // of parents with a higher order
  std::vector<std::uint32_t> way_;
};

} // namespace ptlens::measure
