// A function of a binary, the instructions that leave it, and the copies of its code that the
// compiler put into other functions.
#pragma once

#include "symbols/addresses/address_range.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::symbols {

// Identity of a function is its binary and `address`, never its name.
struct Function {
  enum class Kind {
    code,     // a function of the program
    plt_stub, // .plt, .plt.sec, .plt.got: folded into what it jumps to
    resolver, // the dynamic linker's lazy-binding trampoline (_dl_runtime_resolve*), folded as well
    indirect, // STT_GNU_IFUNC: the symbol's code chooses an implementation
    thunk,    // a retpoline or a return thunk: `ret` used as the jump that it stands for
  };
  std::string name = {};                 // demangled (C++, Rust); "foo@plt" for stubs
  std::string linkage_name = {};         // as in the symbol table
  std::uint64_t address = 0;             // entry
  std::vector<AddressRange> ranges = {}; // the part that holds `address` first, then cold parts
  std::string file = {};                 // of the declaration, empty without DWARF
  std::uint32_t line = 0;
  std::uint32_t end_line = 0; // last line that has code of the function, 0 without DWARF
  Kind kind = Kind::code;
  // Entry of the function that this is a copy (.isra, .constprop) or a part (.part, LLVM's .cold)
  // of in the source; `address` for most.
  std::uint64_t original = 0;
  bool part = false; // of `original`, which jumps to it or calls it
};

// One instruction by which control can leave a function for good.
struct Exit {
  enum class Kind {
    ret,              // return to the caller
    jump,             // direct, out of the function: a tail call
    conditional_jump, // the same, but control also goes on behind it when it is not taken
    indirect_jump,    // through a register or memory, and not by a table of the function's own code
  };
  std::uint64_t address = 0;
  Kind kind = Kind::ret;
  std::uint64_t target = 0; // of a direct jump, else 0
};

// One place where the compiler put the code of a function into another function's
// (DW_TAG_inlined_subroutine).
struct InlinedInstance {
  std::string name = {};         // demangled, of the function that was inlined
  std::string linkage_name = {}; // empty for functions that the linker does not see
  std::string file = {};         // of its declaration, empty where not said
  std::uint32_t line = 0;
  std::optional<std::uint32_t> function = {}; // index of the function whose code holds the place
  std::string call_file = {};                 // of the call that was replaced, empty where not said
  std::uint32_t call_line = 0;
  // Where its first statement is. The instruction there may belong to the code around the place: no
  // range holds the entry then.
  std::uint64_t entry = 0;
  std::vector<AddressRange> ranges = {}; // the one that holds `entry` first
  std::uint32_t depth = 0;               // inlined functions around it in the same function
};

} // namespace ptlens::symbols
