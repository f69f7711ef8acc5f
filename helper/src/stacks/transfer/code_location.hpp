// What the symbols say about an address that control comes from or goes to, as far as the rules of
// transfer need it.
#pragma once

#include "stacks/calls/call.hpp"
#include "symbols/code_place.hpp"

#include <cstdint>

namespace ptlens::stacks {

struct CodeLocation {
  // The function, by the numbers of the code that looked it up. An address that no symbol covers
  // may have a number too.
  FunctionId function = FunctionId::none;
  bool known : 1 = false;    // a symbol covers the address
  bool entry : 1 = false;    // the first address of the function, or of a copy or part of it
  bool part : 1 = false;     // in a part of the function: its own code continues there
  bool is_stub : 1 = false;  // PLT stub, lazy-binding resolver or retpoline: no call of its own
  bool is_thunk : 1 = false; // a retpoline or return thunk: a stub that may lead back as well
  bool returns_twice : 1 =
      false; // setjmp and its like: control may come back to the return address
};
static_assert(sizeof(CodeLocation) == 8);

// Returns the location that the symbols give; `function` is the number of the function.
[[nodiscard]] inline CodeLocation code_location(const symbols::CodePlace& place,
                                                FunctionId function) {
  return {.function = function,
          .known = place.known,
          .entry = place.entry,
          .part = place.part,
          .is_stub = place.is_stub,
          .is_thunk = place.thunk,
          .returns_twice = place.known && symbols::returns_twice(
                                              place.mapped->binary->functions()[place.function])};
}

} // namespace ptlens::stacks
