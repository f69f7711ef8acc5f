// The Go runtime in a binary: which code Go compiled, and where a goroutine's descriptor
// (runtime.g) has its number and the bounds of its stack.
#pragma once

#include "symbols/addresses/address_range.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace ptlens::symbols {

// Byte offsets in runtime.g (runtime/runtime2.go).
struct GoroutineLayout {
  std::uint64_t stack_low = 0;  // of stack.lo
  std::uint64_t stack_high = 0; // of stack.hi
  std::uint64_t number = 0;     // of goid
};

struct GoRuntime {
  AddressRange code;    // of Go's compiler and assembler; the rest is C
  std::string compiler; // "Go cmd/compile go1.26.8; regabi", empty without DWARF
  // Functions get their goroutine in register R14 (Go's ABIInternal on amd64, since Go 1.17).
  bool has_goroutine_register = false;
  std::optional<GoroutineLayout> goroutine; // nothing without DWARF
};

} // namespace ptlens::symbols
