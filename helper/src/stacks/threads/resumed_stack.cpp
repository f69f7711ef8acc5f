// Keeps the return addresses of the calls made since the switch. Only a return to another address
// leaves a frame of the candidates.
#include "stacks/threads/resumed_stack.hpp"

#include <algorithm>

namespace ptlens::stacks {
namespace {

constexpr std::size_t most_held = 1U << 16U; // calls and returns

} // namespace

bool ResumedStack::hold(Held held, const PairedGroup& paired) {
  const bool goes_on = held.points != nullptr || follow(held.branch);
  calls_and_returns_ += 2 * paired.calls.size();
  held.first_call = calls_.size();
  held.calls = paired.calls.size();
  calls_.insert(calls_.end(), paired.calls.begin(), paired.calls.end());
  held.first_system_call = system_calls_.size();
  held.system_calls = paired.system_calls.size();
  system_calls_.insert(system_calls_.end(), paired.system_calls.begin(), paired.system_calls.end());
  held_.push_back(held);
  return goes_on && calls_and_returns_ < most_held;
}

// Returns false where the branch decides between the candidates, or no later branch will.
bool ResumedStack::follow(const flow::Branch& branch) {
  switch (branch.kind) {
  case flow::BranchKind::call:
    ++calls_and_returns_;
    nested_.push_back(branch.address_behind());
    return true;
  case flow::BranchKind::ret: {
    ++calls_and_returns_;
    const auto found = std::find(nested_.rbegin(), nested_.rend(), branch.to);
    if (found != nested_.rend()) {
      nested_.erase(std::prev(found.base()), nested_.end());
      return true;
    }
    return !nested_.empty() || leave(branch.to);
  }
  default:
    return branch.kind != flow::BranchKind::gap;
  }
}

// Returns false where the return decides between the candidates, or no later branch will.
bool ResumedStack::leave(std::uint64_t address) {
  const auto returns_elsewhere = [&](const Candidate& candidate) {
    const Frame* const base = base_of(candidate.frames);
    return base == nullptr || base->return_address != address;
  };
  if (std::ranges::all_of(candidates_, returns_elsewhere)) {
    return false;
  }
  std::erase_if(candidates_, returns_elsewhere);
  for (Candidate& candidate : candidates_) {
    candidate.frames = without_innermost(candidate.frames);
  }
  return candidates_.size() > 1;
}

} // namespace ptlens::stacks
