// The places in a graph of code that branches refer to: the ends of its basic blocks, and the
// direct branches inside the blocks. One thread adds places; other threads may read the places
// whose ids they were given.
#pragma once

#include "base/stable_vector.hpp"
#include "flow/branches/branch.hpp"

#include <cstdint>
#include <limits>

namespace ptlens::flow {

// Index of a basic block in its graph.
enum class BlockId : std::uint32_t {};
inline constexpr BlockId no_block{0}; // no code is known there, or the edge was not followed yet
[[nodiscard]] constexpr std::uint32_t index_of(BlockId id) {
  return static_cast<std::uint32_t>(id);
}

// Index of a direct branch in its graph.
enum class DirectBranchId : std::uint32_t {};
[[nodiscard]] constexpr std::uint32_t index_of(DirectBranchId id) {
  return static_cast<std::uint32_t>(id);
}

// A number that the BranchConsumer of a graph gives to a place in the code. The graph stores labels
// beside its own data, because both are read together for each branch, and does not interpret them.
using Label = std::uint32_t;
inline constexpr Label no_label = std::numeric_limits<Label>::max();

struct BlockEnds {
  std::uint64_t begin = 0;
  std::uint64_t end_address = 0; // of the instruction that decides
  std::uint8_t end_size = 0;     // its bytes
  // Labels: only the thread that adds places may use them.
  std::uint8_t end_flags = 0;
  Label target = no_label;   // of `begin`
  Label site = no_label;     // of `end_address`
  Label function = no_label; // the same

  [[nodiscard]] std::uint64_t address_behind() const { return end_address + end_size; }
};
static_assert(sizeof(BlockEnds) == 32);

// A direct call or jump inside a basic block that is emitted.
struct DirectBranch {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  BranchKind kind = BranchKind::jump;
  std::uint8_t from_size = 0;
  bool returns = false; // a call, but not to the next instruction
  // Only the thread that adds places may use the following members.
  std::uint8_t mark = 0;     // for the BranchConsumer, like a label
  BlockId behind = no_block; // where a call returns to, no_block until it is known
  Label target = no_label;   // of `to`
  Label site = no_label;     // of `from`

  [[nodiscard]] std::uint64_t address_behind() const { return from + from_size; }
};
static_assert(sizeof(DirectBranch) == 32);

class CodePoints {
public:
  CodePoints() {
    blocks.push_back({});          // no_block
    direct_branches.push_back({}); // so that the first direct branch gets an id other than `none`
  }

  // Returns the id of both ends of a direct branch.
  [[nodiscard]] static BranchPointId id_of(DirectBranchId direct) {
    return static_cast<BranchPointId>(2 * index_of(direct) + 1);
  }
  // Returns the id of the instruction that ends the block, which is also the id of the address at
  // which the block begins.
  [[nodiscard]] static BranchPointId id_of(BlockId block) {
    return static_cast<BranchPointId>(2 * index_of(block));
  }
  [[nodiscard]] static bool is_direct(BranchPointId id) { return index_of(id) % 2 != 0; }
  [[nodiscard]] static std::uint32_t index_in_kind(BranchPointId id) { return index_of(id) / 2; }

  struct Instruction {
    std::uint64_t address = 0;
    std::uint8_t size = 0; // bytes
    [[nodiscard]] std::uint64_t address_behind() const { return address + size; }
  };
  // Returns the instruction that Branch::from_id identifies.
  [[nodiscard]] Instruction from(BranchPointId id) const {
    if (is_direct(id)) {
      const DirectBranch& direct = direct_branches[index_in_kind(id)];
      return {direct.from, direct.from_size};
    }
    const BlockEnds& block = blocks[index_in_kind(id)];
    return {block.end_address, block.end_size};
  }
  // Returns the address that Branch::to_id identifies.
  [[nodiscard]] std::uint64_t to(BranchPointId id) const {
    return is_direct(id) ? direct_branches[index_in_kind(id)].to : blocks[index_in_kind(id)].begin;
  }

  // Returns the direct branch, without time.
  [[nodiscard]] Branch branch(DirectBranchId id) const {
    const DirectBranch& direct = direct_branches[index_of(id)];
    return {.from = direct.from,
            .to = direct.to,
            .kind = direct.kind,
            .from_size = direct.from_size,
            .from_id = id_of(id),
            .to_id = id_of(id)};
  }
  // Returns the branch that ends the block, without time; `reached` begins at `to`, or is no_block.
  [[nodiscard]] Branch branch(BlockId id, BranchKind kind, std::uint64_t to,
                              BlockId reached = no_block) const {
    const BlockEnds& block = blocks[index_of(id)];
    return {.from = block.end_address,
            .to = to,
            .kind = kind,
            .from_size = block.end_size,
            .from_id = id_of(id),
            .to_id = id_of(reached)};
  }
  // Returns the branch between two points, without time.
  [[nodiscard]] Branch branch(BranchPointId from_id, BranchPointId to_id, BranchKind kind) const {
    const Instruction instruction = from(from_id);
    return {.from = instruction.address,
            .to = to(to_id),
            .kind = kind,
            .from_size = instruction.size,
            .from_id = from_id,
            .to_id = to_id};
  }

  StableVector<BlockEnds> blocks;
  StableVector<DirectBranch> direct_branches;
};

} // namespace ptlens::flow
