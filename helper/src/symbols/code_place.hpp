// What stands at a process address: a function and where in it, as the ways along calls need it.
#pragma once

#include "symbols/address_space.hpp"

#include <cstdint>

namespace ptlens::symbols {

struct CodePlace {
  const MappedCode* mapped = nullptr; // what is mapped there, nullptr for nothing
  std::uint32_t function = 0;         // index into the binary's functions, where known
  bool known = false;                 // a function covers the address
  bool entry = false;                 // the address is the first of the function, copy or part
  bool part = false;                  // in a part of the function: its own code goes on there
  bool is_stub = false; // PLT stub, lazy-binding resolver or retpoline: not a call of its own
  bool thunk = false;  // of these, a retpoline or return thunk: leads back as well as on
};

// A copy or part that the compiler made of a function is that function.
[[nodiscard]] CodePlace place_at(const AddressSpaceVersion& space, std::uint64_t address);

// setjmp and its like: control may come back to their return address later.
[[nodiscard]] bool returns_twice(const Function& function);

} // namespace ptlens::symbols
