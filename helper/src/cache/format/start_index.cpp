#include "cache/format/start_index.hpp"

#include <algorithm>

namespace ptlens::cache {

// Numbers that are far ahead of all others are not covered, so that they cost no memory.
void StartIndexBuilder::extend(std::uint32_t number, std::uint64_t time) {
  constexpr std::uint64_t farthest = 1U << 16U;
  if (number >= times_ && number - times_ > farthest) {
    return;
  }
  while (times_ <= number) {
    const std::size_t at = times_ % StartGroup::times;
    if (at == 0) {
      groups_.emplace_back().base = time;
    }
    StartGroup& group = groups_.back();
    const std::uint64_t after = time > group.base ? time - group.base : 0;
    group.after[at] = static_cast<std::uint32_t>(std::min<std::uint64_t>(after, UINT32_MAX));
    ++times_;
  }
}

} // namespace ptlens::cache
