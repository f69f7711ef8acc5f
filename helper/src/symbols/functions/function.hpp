// A function of a binary, the instructions by which control leaves it, and the copies of its code
// that the compiler put into other functions.
#pragma once

#include "symbols/addresses/address_range.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::symbols {

// A function. Its identity is its binary and `address`, never its name.
struct Function {
  enum class Kind {
    code,     // a function of the program
    plt_stub, // .plt, .plt.sec, .plt.got: folded into the function that it jumps to
    resolver, // the dynamic linker's lazy-binding trampoline (_dl_runtime_resolve*), also folded
    indirect, // STT_GNU_IFUNC: the symbol's code chooses an implementation
    thunk,    // a retpoline or a return thunk: its `ret` is used as a jump
  };
  std::string name = {};                 // demangled (C++, Rust); "foo@plt" for stubs
  std::string linkage_name = {};         // from the symbol table
  std::uint64_t address = 0;             // entry
  std::vector<AddressRange> ranges = {}; // the part with `address` first, then cold parts
  std::string file = {};                 // file of the declaration, empty without DWARF
  std::uint32_t line = 0;
  std::uint32_t end_line = 0; // last line with code of the function, 0 without DWARF
  Kind kind = Kind::code;
  // The entry of the source function that this is a copy (.isra, .constprop) or a part (.part,
  // LLVM's .cold) of; `address` for most functions.
  std::uint64_t original = 0;
  bool part = false; // a part of `original`, which jumps to it or calls it
};

// An instruction by which control can leave a function without coming back.
struct Exit {
  enum class Kind {
    ret,              // return to the caller
    jump,             // direct jump out of the function: a tail call
    conditional_jump, // the same, but control continues after it when it is not taken
    indirect_jump,    // through a register or memory, but not by a jump table of the function
  };
  std::uint64_t address = 0;
  Kind kind = Kind::ret;
  std::uint64_t target = 0; // target of a direct jump, else 0
};

// An inlined instance of a function: a copy of its code in another function
// (DW_TAG_inlined_subroutine).
struct InlinedInstance {
  std::string name = {};         // demangled name of the inlined function
  std::string linkage_name = {}; // empty for functions that the linker does not see
  std::string file = {};         // file of its declaration, empty where unknown
  std::uint32_t line = 0;
  std::optional<std::uint32_t> function = {}; // index of the surrounding function
  std::string call_file = {};                 // file of the replaced call, empty where unknown
  std::uint32_t call_line = 0;
  // The address of its first statement. The instruction there may belong to the surrounding code;
  // then no range contains the entry.
  std::uint64_t entry = 0;
  std::vector<AddressRange> ranges = {}; // the range with `entry` first
  std::uint32_t depth = 0; // number of inlined instances around it in the same function
};

} // namespace ptlens::symbols
