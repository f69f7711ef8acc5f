// The machine code of real programs as a graph of blocks, to be walked without being executed.
//
// Functions are the symbols of the files; a cold part belongs to the function that jumps to it.
// The graph contains only code that every decoder reads alike, and marks blocks that cannot be
// walked. The cost of a block is the least time from its start until its function has returned,
// including calls. A block from which the function cannot return has no cost. The costs are those
// of Knuth, "A Generalization of Dijkstra's Algorithm" (1977).
#pragma once

#include "base/error.hpp"
#include "synth/elf_code.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptlens::ptsim::synth {

using BlockId = std::uint32_t;
using FunctionId = std::uint32_t;
inline constexpr BlockId no_block = std::numeric_limits<BlockId>::max();
inline constexpr FunctionId no_function = std::numeric_limits<FunctionId>::max();
inline constexpr std::uint32_t no_exit = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint32_t shunned_cost = 1 << 20; // of a system call, in a quiet graph

enum class End : std::uint8_t {
  fall,          // into the next block
  jump,          // direct; a call of the next instruction too
  conditional,   // to `taken` or `next`
  indirect_jump, // to an island of the function, or the entry of any other
  call,          // of `taken`, and back to `next`
  indirect_call, // of any function, and back to `next`
  ret,
  system_call,
  stub, // the jump of a linkage stub to `next`
  dead, // cannot be walked
};

struct Block {
  std::uint32_t begin = 0; // ELF address
  std::uint32_t last = 0;  // of its last instruction
  FunctionId function = no_function;
  BlockId next = no_block;
  BlockId taken = no_block;
  std::uint32_t cost = no_exit; // core cycles
  std::uint16_t cycles = 0;
  std::uint8_t last_size = 0; // bytes
  End end = End::dead;
  bool call_of_next = false; // a jump that is written as a call of the next instruction

  [[nodiscard]] std::uint32_t behind() const { return last + last_size; }
};

struct FunctionNode {
  std::uint32_t binary = 0;
  std::uint32_t address = 0; // ELF
  std::uint32_t size = 0;    // of the part with the entry
  std::string name;
  bool stub = false;
  BlockId first = no_block; // the entry; the function's blocks are numbered in a row
  std::uint32_t blocks = 0;
  // Blocks that no direct branch leads to: places of a switch, landing pads.
  std::uint32_t first_island = 0; // in CodeGraph::islands
  std::uint32_t islands = 0;
};

class CodeGraph {
public:
  // The files are mapped into one process; the first is its program. At most `functions` functions
  // are taken, from all over the files, callees with their callers. Errors: those of
  // ElfCode::read, and bad_input where nothing can be walked. `quiet`: system calls are shunned.
  static Result<CodeGraph> read(const std::vector<std::string>& files, std::size_t functions,
                                bool quiet = false);

  [[nodiscard]] std::span<const ElfCode> binaries() const { return binaries_; }
  [[nodiscard]] std::span<const Block> blocks() const { return blocks_; }
  [[nodiscard]] const Block& block(BlockId id) const { return blocks_[id]; }
  [[nodiscard]] std::span<const FunctionNode> functions() const { return functions_; }
  [[nodiscard]] const FunctionNode& function(FunctionId id) const { return functions_[id]; }

  // Functions that can be walked, by number, without stubs; and the functions among them that
  // return soon.
  [[nodiscard]] std::span<const FunctionId> usable() const { return usable_; }
  [[nodiscard]] std::span<const FunctionId> cheap() const { return cheap_; }
  [[nodiscard]] bool can_be_walked(BlockId id) const {
    return id != no_block && blocks_[id].cost != no_exit;
  }
  // Returns true when every path from the block to the return of its function contains a system
  // call. Only a quiet graph knows this.
  [[nodiscard]] bool is_loud(BlockId id) const {
    return quiet_ && can_be_walked(id) && blocks_[id].cost >= shunned_cost;
  }
  [[nodiscard]] std::span<const BlockId> islands(const FunctionNode& function) const {
    return std::span(islands_).subspan(function.first_island, function.islands);
  }

  // ELF address of the first byte in that binary's code of `mov $15,%eax; syscall`, which ends a
  // signal, and the size of its first instruction; nothing where there is none.
  [[nodiscard]] std::optional<std::uint32_t> find_signal_return(std::size_t binary) const;

  // ELF addresses of the block's instructions.
  [[nodiscard]] std::vector<std::uint32_t> instructions(const Block& block) const;

private:
  friend class GraphBuilder;
  bool quiet_ = false;
  std::vector<ElfCode> binaries_;
  std::vector<Block> blocks_;
  std::vector<FunctionNode> functions_;
  std::vector<BlockId> islands_;
  std::vector<FunctionId> usable_;
  std::vector<FunctionId> cheap_;
};

// Fills in the cost of every block. A jump or call through a register costs what the cheapest
// functions do, `indirect_cost`.
void compute_costs(std::span<Block> blocks, std::uint32_t indirect_cost,
                   std::uint32_t system_call_cost);

} // namespace ptlens::ptsim::synth
