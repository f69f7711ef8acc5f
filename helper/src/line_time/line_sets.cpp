// A map finds the number of a set by its members.
#include "line_time/line_sets.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ptlens::line_time {

LineSets::LineSets(std::size_t most_members) : most_members_(most_members) {
  sets_.push_back({elsewhere});
  sets_.emplace_back();
  numbers_.emplace(sets_.front(), only_elsewhere);
}

std::uint32_t LineSets::of(std::vector<std::uint32_t> members) {
  if (const auto known = numbers_.find(members); known != numbers_.end()) {
    return known->second;
  }
  if (member_count_ + members.size() > most_members_) {
    return everything;
  }
  member_count_ += members.size();
  const auto number = static_cast<std::uint32_t>(sets_.size());
  numbers_.emplace(members, number);
  sets_.push_back(std::move(members));
  return number;
}

std::uint32_t LineSets::united(std::uint32_t one, std::uint32_t other) {
  if (one == everything || other == everything) {
    return everything;
  }
  const std::uint64_t pair =
      (std::uint64_t{std::min(one, other)} << 32U) | std::uint64_t{std::max(one, other)};
  if (const auto known = unions_.find(pair); known != unions_.end()) {
    return known->second;
  }
  std::vector<std::uint32_t> members;
  std::ranges::set_union(sets_[one], sets_[other], std::back_inserter(members));
  const std::uint32_t number = of(std::move(members));
  if (unions_.size() < most_members_) {
    unions_.emplace(pair, number);
  }
  return number;
}

} // namespace ptlens::line_time
