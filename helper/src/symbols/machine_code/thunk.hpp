// Retpolines and return thunks: code that overwrites the return address of its own call and returns
// to the address that it wrote (Intel, "Retpoline: A Branch Target Injection Mitigation").
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace ptlens::symbols {

// Checks for the names that GCC, LLVM and the Linux kernel give to thunks.
[[nodiscard]] bool names_thunk(std::string_view linkage_name);

// Checks for the code of a thunk: a call over a loop that catches speculation, then a store to the
// top of the stack (or its removal), and `ret`.
[[nodiscard]] bool is_thunk_code(std::span<const std::byte> code);

} // namespace ptlens::symbols
