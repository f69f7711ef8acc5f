// Finds the calls below marked ones at any depth, for up to eight marks at once. One pass over the
// links from calls to their parents suffices for a thread.
#pragma once

#include "cache/reading/call_cache.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

using Marks = std::uint8_t; // one bit each
inline constexpr std::size_t marks_at_once = 8;

class Ancestry {
public:
  // `edges`: all edges on a path from a call to a marked one.
  Ancestry(const cache::CallCache& cache, std::span<const cache::EdgeId> edges);

  [[nodiscard]] std::size_t threads() const { return blocks_.size(); }
  // Switches to that thread, without marks.
  void enter(std::uint32_t thread);
  // Removes all marks.
  void clear();
  void mark(stacks::CallId call, Marks marks) {
    const std::uint32_t order = index_of(call);
    if (order < marks_.size()) {
      marks_[order] = static_cast<Marks>(marks_[order] | marks);
    }
  }
  // Passes the marks of each call on to the calls below it, until clear() or enter().
  void propagate();
  // Returns the marks of the call and of all calls above it; none for CallId::none.
  [[nodiscard]] Marks of(stacks::CallId call) const {
    const std::uint32_t order = index_of(call);
    return order < marks_.size() ? marks_[order] : Marks{0};
  }

private:
  void propagate_to(std::uint32_t late_parent);

  const cache::CallCache& cache_;
  std::vector<std::vector<const cache::BlockEntry*>> blocks_; // by thread
  std::span<const std::uint32_t> sizes_;
  std::vector<std::uint32_t> distance_; // to the parent, by order; 0 where it has none
  std::vector<Marks> marks_;
  std::vector<bool> done_; // by order, for parents with a higher order
  std::vector<std::uint32_t> path_;
};

} // namespace ptlens::measure
