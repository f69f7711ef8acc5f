// Retpolines and return thunks: code that overwrites the return address of a call of its own and
// returns to what it wrote (Intel, "Retpoline: A Branch Target Injection Mitigation").
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace ptlens::symbols {

// The names that GCC, LLVM and the Linux kernel give them.
[[nodiscard]] bool names_thunk(std::string_view linkage_name);

// True when the code is one: a call over a loop that catches speculation, then a store to the top
// of the stack, or its removal, and `ret`.
[[nodiscard]] bool is_thunk_code(std::span<const std::byte> code);

} // namespace ptlens::symbols
