// The function at a process address, and the position in it, as far as the assembly of calls needs
// it.
#pragma once

#include "symbols/address_space.hpp"

#include <cstdint>

namespace ptlens::symbols {

struct CodePlace {
  const MappedCode* mapped = nullptr; // the mapping at the address, nullptr where there is none
  std::uint32_t function = 0;         // index into the binary's functions, where known
  bool known = false;                 // a function covers the address
  bool entry = false;                 // the address is the first of the function, copy or part
  bool part = false;    // in a part of the function: the function's own code continues there
  bool is_stub = false; // PLT stub, lazy-binding resolver or retpoline: not a call of its own
  bool thunk = false;   // of these, a retpoline or return thunk: leads back as well as on
};

// A copy or part that the compiler made of a function counts as that function.
[[nodiscard]] CodePlace place_at(const AddressSpaceVersion& space, std::uint64_t address);

// Checks for setjmp and similar functions: control may come back to their return address later.
[[nodiscard]] bool returns_twice(const Function& function);

} // namespace ptlens::symbols
