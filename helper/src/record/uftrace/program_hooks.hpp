// Whether and how uftrace can put hooks into a program: a hook replaces the return address of a
// call by its own, so that a program that inspects or switches its stacks itself would crash.
#pragma once

#include "base/error.hpp"
#include "symbols/binary.hpp"

#include <string>
#include <vector>

namespace ptlens::record {

struct ProgramHooks {
  bool compiled_in = false; // -pg or -finstrument-functions; else uftrace patches the functions
  // Functions that uftrace must not patch, though it would: linkage names.
  std::vector<std::string> unsafe;
};

// Checks the executable. Errors: those of Binary::open; unsupported, with the reason, for a program
// that uftrace cannot hook, or that its hooks could break.
[[nodiscard]] Result<ProgramHooks> program_hooks(const std::string& program);

// Returns the functions that a patch at their entry would break: a cold part of theirs jumps into
// the bytes that the patch replaces. uftrace checks other jumps itself.
[[nodiscard]] std::vector<std::string> unsafe_to_patch(const symbols::Binary& binary);

} // namespace ptlens::record
