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
      groups_.push_back({.base = time});
    }
    StartGroup& group = groups_[groups_.size() - 1];
    const std::uint64_t after = time > group.base ? time - group.base : 0;
    group.after[at] = static_cast<std::uint32_t>(std::min<std::uint64_t>(after, UINT32_MAX));
    ++times_;
  }
}

std::vector<StartGroup> StartIndexBuilder::groups() const {
  std::vector<StartGroup> all;
  all.reserve(groups_.size());
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    all.push_back(groups_[group]);
  }
  return all;
}

} // namespace ptlens::cache
