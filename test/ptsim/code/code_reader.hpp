// Memory of the traced process, and its instructions, each decoded once.
#pragma once

#include "base/error.hpp"
#include "code/instruction.hpp"

#include <cstdint>
#include <span>
#include <sys/types.h>
#include <unordered_map>

namespace ptlens::ptsim {

// Reads up to `into.size()` bytes at the address; returns how many could be read.
[[nodiscard]] std::size_t read_memory(pid_t pid, std::uint64_t address, std::span<std::byte> into);

class CodeReader {
public:
  explicit CodeReader(pid_t pid) : pid_(pid) {}

  // The instruction at the address. Errors: bad_input where there is none.
  Result<Instruction> at(std::uint64_t address);

  // The mappings changed: forget all instructions.
  void forget() { known_.clear(); }

private:
  pid_t pid_;
  std::unordered_map<std::uint64_t, Instruction> known_;
};

} // namespace ptlens::ptsim
