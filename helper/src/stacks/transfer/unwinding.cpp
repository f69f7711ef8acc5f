// Searches from the innermost frame outwards.
#include "stacks/transfer/unwinding.hpp"

#include <vector>

namespace ptlens::stacks {
namespace {

// Returns the number of frames that remain when an exception lands at the address; 0: none. The
// innermost of them is in a call for which its function's exception table names that landing pad,
// which distinguishes the activations of a recursive function.
std::size_t with_landing_pad(const Stack& stack, CodeFacts& facts,
                             const symbols::AddressSpaceVersion& space, const CodeLocation& to,
                             std::uint64_t address) {
  const std::vector<Frame>& frames = stack.frames;
  for (std::size_t count = frames.size(); count > 1; --count) {
    const Frame& callee = frames[count - 1];
    if (frames[count - 2].function != to.function || callee.tail) {
      continue;
    }
    const std::uint64_t call_end =
        callee.signal ? callee.resume_address + 1 : callee.return_address;
    if (call_end != 0 && facts.landing_pad(space, call_end) == address) {
      return count - 1;
    }
  }
  return 0;
}

} // namespace

std::optional<Unwinding> unwinding(const Stack& stack, CodeFacts& facts,
                                   const symbols::AddressSpaceVersion& space,
                                   const CodeLocation& to, std::uint64_t address) {
  if (const std::size_t frames = stack.with_landmark(address); frames != 0) {
    return Unwinding{.frames = frames};
  }
  if (const std::size_t frames = with_landing_pad(stack, facts, space, to, address); frames != 0) {
    return Unwinding{.frames = frames};
  }
  if (const std::size_t frames = stack.with_return_address(address); frames > 1) {
    return Unwinding{.frames = frames, .returns = true};
  }
  return std::nullopt;
}

} // namespace ptlens::stacks
