// The functions of the Go runtime by which a thread goes from one goroutine to another (runtime/
// asm_amd64.s, proc.go, stack.go, panic.go). The trace shows where a goroutine continues, and never
// which one it is.
#pragma once

#include "symbols/binary.hpp"

#include <cstdint>

namespace ptlens::stacks {

enum class GoRole : std::uint8_t {
  none,       // not in a binary of Go
  code,       // any other function
  continues,  // gogo: jumps to where a goroutine was left, on that goroutine's stack
  leaves,     // mcall, morestack: go from the goroutine's stack to the scheduler's
  grows,      // newstack: its gogo goes back to the goroutine that it was called for
  recovers,   // recovery: the same, to the function that recovered from a panic
  is_outmost, // goexit: what the first function of a goroutine returns to
};

[[nodiscard]] GoRole go_role(const symbols::Binary& binary, const symbols::Function& function);

} // namespace ptlens::stacks
