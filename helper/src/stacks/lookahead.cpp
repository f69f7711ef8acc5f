// Calls made since are counted by their return addresses; only a return that is none of theirs
// leaves a frame of the candidates.
#include "stacks/lookahead.hpp"

#include <algorithm>

namespace ptlens::stacks {
namespace {

constexpr std::size_t most_held = 1U << 16U;

} // namespace

bool Lookahead::hold(const flow::Branch& branch, const symbols::AddressSpaceVersion& space) {
  held_.emplace_back(branch, &space);
  held_.back().first.exit = 0; // by then other numbers may be in use
  held_.back().first.arrival = 0;
  switch (branch.kind) {
  case flow::BranchKind::call:
    nested_.push_back(branch.from + branch.from_size);
    break;
  case flow::BranchKind::ret: {
    const auto found = std::find(nested_.rbegin(), nested_.rend(), branch.to);
    if (found != nested_.rend()) {
      nested_.erase(std::prev(found.base()), nested_.end());
    } else if (nested_.empty() && !leave(branch.to)) {
      return false;
    }
    break;
  }
  case flow::BranchKind::gap:
    return false;
  default:
    break;
  }
  return held_.size() < most_held;
}

// False when the candidates are told apart, or never will be.
bool Lookahead::leave(std::uint64_t address) {
  const auto returns_elsewhere = [&](const Candidate& candidate) {
    return left_ >= candidate.returns.size() || candidate.returns[left_] != address;
  };
  if (std::ranges::all_of(candidates_, returns_elsewhere)) {
    return false;
  }
  std::erase_if(candidates_, returns_elsewhere);
  ++left_;
  return candidates_.size() > 1;
}

} // namespace ptlens::stacks
