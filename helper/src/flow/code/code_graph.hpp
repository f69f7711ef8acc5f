// Code as a graph of basic blocks. A block here reaches from an address to the next instruction
// whose outcome the trace reports: a conditional branch, an indirect transfer or a return. The
// direct jumps and calls on the path are part of the block, so that a bit of a TNT packet is one
// step along an edge. The graph is built where the trace leads. The data that is read of each block
// for each bit is small and stored together, because following a trace is bound by what the
// processor's caches hold of it.
#pragma once

#include "base/large_pages.hpp"
#include "flow/branches/branch.hpp"
#include "flow/code/address_map.hpp"
#include "flow/code/code_image.hpp"
#include "flow/code/code_points.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace ptlens::flow {

// An address that a call returns to, and the block that begins there: no_block until it is known.
struct ReturnPoint {
  std::uint64_t address = 0;
  BlockId block = no_block;
};

struct BasicBlock {
  enum class End : std::uint8_t {
    conditional,
    ret,
    call,    // indirect
    jump,    // indirect
    system,  // a system call
    unclear, // far, unknown or too far away: to be followed instruction by instruction
  };

  // The edges of a conditional branch: where it is not taken, and where it is. The first one of an
  // indirect call leads to the block that it returns to.
  std::array<BlockId, 2> edges = {no_block, no_block};
  DirectBranchId first_direct{};
  std::uint16_t instructions = 0; // including the one that decides
  std::uint8_t direct_count : 7 = 0;
  std::uint8_t hidden : 1 = 0; // the conditional branch at the end is not emitted
  std::uint8_t end : 3 = static_cast<std::uint8_t>(End::unclear);
  std::uint8_t calls : 1 = 0; // one of the direct branches is a call that returns

  // An index, since a jump on `taken` would be predicted badly.
  [[nodiscard]] BlockId edge(bool taken) const { return edges[taken ? 1 : 0]; }
  [[nodiscard]] bool ends_with(End which) const { return end == static_cast<std::uint8_t>(which); }
};
static_assert(sizeof(BasicBlock) == 16);

// The branches that are emitted.
enum class Detail : std::uint8_t {
  branches, // all taken branches
  // All but direct jumps inside a function. The last conditional branch before a break is emitted.
  calls,
};

class CodeGraph {
public:
  // The image must outlive the graph.
  CodeGraph(CodeImage& image, Detail detail)
      : image_(&image), detail_(detail), recent_(std::size_t{1} << least_recent_bits, Target{}) {}

  [[nodiscard]] CodeImage& image() const { return *image_; }
  // Returns true where branches inside functions are not emitted.
  [[nodiscard]] bool hides_local_jumps() const { return detail_ == Detail::calls; }

  // Returns the block that begins at the process address; no_block where no code is known there.
  [[nodiscard]] BlockId at(std::uint64_t address) {
    const auto found = by_address_.find(address);
    return found != by_address_.end() ? found->second : explore(address);
  }

  // The following two are valid until at(), take() or behind() adds a block.
  [[nodiscard]] const BasicBlock& operator[](BlockId block) const {
    return blocks_[index_of(block)];
  }
  [[nodiscard]] const BasicBlock* blocks() const { return blocks_.data(); }
  // The following are always valid.
  [[nodiscard]] const BlockEnds& ends(BlockId block) const {
    return points_.blocks[index_of(block)];
  }
  [[nodiscard]] const DirectBranch& direct(DirectBranchId id) const {
    return points_.direct_branches[index_of(id)];
  }
  [[nodiscard]] const CodePoints& points() const { return points_; }

  // Returns the block that the conditional branch leads to; no_block where no code is known there.
  [[nodiscard]] BlockId take(BlockId block, bool taken) {
    const BlockId edge = (*this)[block].edge(taken);
    return edge != no_block ? edge : find_edge(block, taken);
  }
  // A target of indirect transfers.
  struct Target {
    std::uint64_t address = 0;
    BlockId block = no_block; // where no code is known there
    Label label = no_label;
  };
  // Returns the target of an indirect transfer, valid until the next look-up.
  [[nodiscard]] const Target& go(std::uint64_t to) { return target(to); }
  // Starts to load the memory that go() will read.
  void prefetch(std::uint64_t to) const { __builtin_prefetch(&recent_[slot(to)]); }
  // Returns the point that the indirect call at the end of the block returns to.
  [[nodiscard]] ReturnPoint behind(BlockId block) {
    const std::uint64_t address = ends(block).address_behind();
    if ((*this)[block].edge(false) == no_block) {
      const BlockId found = at(address);
      blocks_[index_of(block)].edges[0] = found;
    }
    return {address, (*this)[block].edge(false)};
  }
  // Returns the point that the direct call returns to.
  [[nodiscard]] ReturnPoint behind(DirectBranchId id) {
    const DirectBranch& call = direct(id);
    if (call.behind == no_block) {
      const BlockId found = at(call.address_behind());
      points_.direct_branches[index_of(id)].behind = found;
    }
    return {call.address_behind(), call.behind};
  }

  // The data whose labels the consumer may set.
  [[nodiscard]] BlockEnds& labels(BlockId block) { return points_.blocks[index_of(block)]; }
  [[nodiscard]] DirectBranch& labels(DirectBranchId id) {
    return points_.direct_branches[index_of(id)];
  }
  void set_target_label(std::uint64_t to, Label label) {
    target(to).label = label;
    targets_[to].label = label;
  }

private:
  BlockId explore(std::uint64_t address);
  BasicBlock follow(std::uint64_t address, BlockEnds& ends, std::uint64_t& jump_target);
  BlockId find_edge(BlockId block, bool taken);
  [[nodiscard]] Target& target(std::uint64_t to) {
    Target& recent = recent_[slot(to)];
    return recent.address == to ? recent : find_target(to);
  }
  // Multiplicative hashing: Knuth, TAOCP vol. 3, 6.4.
  [[nodiscard]] std::size_t slot(std::uint64_t address) const {
    return (address * 0x9e3779b97f4a7c15U) >> (64U - recent_bits_);
  }
  Target& find_target(std::uint64_t to);

  CodeImage* image_;
  Detail detail_;
  std::vector<BasicBlock, LargePages<BasicBlock>> blocks_{1}; // the first is no_block
  std::vector<std::uint64_t> jump_targets_{0}; // of the conditional branches, by block; others: 0
  CodePoints points_;
  AddressMap<BlockId> by_address_;
  AddressMap<Target> targets_;
  static constexpr unsigned least_recent_bits = 8;
  static constexpr unsigned most_recent_bits = 16;
  unsigned recent_bits_ = least_recent_bits;
  std::vector<Target, LargePages<Target>> recent_; // nearly all targets of a trace, by hash
};

} // namespace ptlens::flow
