// When control has left frames without their returns: by longjmp, by an exception, or by a return
// over several frames.
#pragma once

#include "stacks/frames/frames.hpp"
#include "stacks/transfer/code_facts.hpp"
#include "stacks/transfer/code_location.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace ptlens::stacks {

struct Unwinding {
  std::size_t frames = 0; // that remain
  bool returns = false;   // the innermost frame of them returns as well
};

// Returns the frames of the stack that remain when control arrives at the address, other than by
// the return of the innermost frame: at the return address of setjmp; at the landing pad of an
// exception; at the return address of an older frame. Returns nullopt where it is none of these.
[[nodiscard]] std::optional<Unwinding> unwinding(const Stack& stack, CodeFacts& facts,
                                                 const symbols::AddressSpaceVersion& space,
                                                 const CodeLocation& to, std::uint64_t address);

} // namespace ptlens::stacks
