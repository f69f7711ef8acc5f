// Code as a graph of decisions. A node is the straight way from an address to the next instruction
// whose outcome the trace tells: a conditional branch, an indirect transfer, a return; direct jumps
// and calls on the way are folded into it. A bit of a TNT packet is then one step along an edge.
// Built where the trace leads, and kept. What is read of each way for each bit is small and lies
// together, since following a trace is bound by what the processor's caches hold of it.
#pragma once

#include "base/large_pages.hpp"
#include "flow/branches/branch.hpp"
#include "flow/code/address_map.hpp"
#include "flow/code/code_image.hpp"
#include "flow/code/code_points.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace ptlens::flow {

// An address that a call returns to, and the way that begins there, no_block until it is known.
struct ReturnPoint {
  std::uint64_t address = 0;
  BlockIndex way = no_block;
};

struct BasicBlock {
  enum class End : std::uint8_t {
    conditional,
    ret,
    call,    // indirect
    jump,    // indirect
    system,  // a system call
    unclear, // far, unknown or too far to see: to be followed instruction by instruction
  };

  BlockIndex taken = no_block;     // of a conditional branch
  BlockIndex not_taken = no_block; // the same; of an indirect call: behind it
  std::uint32_t first_step = 0;
  std::uint16_t instructions = 0; // the one that decides included
  std::uint8_t step_count : 7 = 0;
  std::uint8_t untold : 1 = 0; // of a conditional branch: it is none of those that are told
  std::uint8_t end : 3 = static_cast<std::uint8_t>(End::unclear);
  std::uint8_t calls : 1 = 0;       // one of the steps returns
  std::uint8_t from_stub : 1 = 0;   // it is known to end in the stub that its last step calls
  std::uint8_t keeps_stack : 1 = 0; // it is known to end by a jump that stays on its stack

  [[nodiscard]] bool ends_with(End which) const { return end == static_cast<std::uint8_t>(which); }
};
static_assert(sizeof(BasicBlock) == 16);

// Where calls and jumps go to, as whoever makes calls of them sees it: see symbols::CodePlace.
struct Target {
  std::uint32_t function : 28 = 0; // a number of the graph's own, 0: none is known
  bool lands : 1 = false;          // in a function, which is neither a stub nor returns twice
  bool entry : 1 = false;
  bool part : 1 = false;
  bool stub : 1 = false; // the entry of a stub that is no thunk
  // A call that goes there begins a call of the function.
  [[nodiscard]] bool enters() const { return lands && entry && !part; }
};
static_assert(sizeof(Target) == 4);

// Which branches are told.
enum class Detail : std::uint8_t {
  branches, // all that were taken
  calls,    // not direct ones inside a function, but for the last conditional one before a break
  folded,   // the same, and calls that came back are told as such: see ReturnedCall
};

class CodeGraph {
public:
  // The image must outlive the graph.
  CodeGraph(CodeImage& image, Detail detail)
      : image_(&image), detail_(detail), recent_(std::size_t{1} << least_recent_bits, Went{}) {}

  [[nodiscard]] CodeImage& image() const { return *image_; }
  [[nodiscard]] Detail detail() const { return detail_; }
  // Branches inside functions are not told.
  [[nodiscard]] bool tells_calls() const { return detail_ != Detail::branches; }

  // The way that begins at the process address; no_block where no code is known there.
  [[nodiscard]] BlockIndex at(std::uint64_t address) {
    const auto found = by_address_.find(address);
    return found != by_address_.end() ? found->second : explore(address);
  }

  // These stand until a way is added: by at(), take() and behind().
  [[nodiscard]] const BasicBlock& operator[](BlockIndex way) const { return ways_[way]; }
  [[nodiscard]] const BasicBlock* ways() const { return ways_.data(); }
  // These stand.
  [[nodiscard]] const BlockEnds& ends(BlockIndex way) const { return points_.ways[way]; }
  [[nodiscard]] const DirectBranch& step(std::uint32_t number) const {
    return points_.steps[number];
  }
  [[nodiscard]] const CodePoints& points() const { return points_; }

  // Where the conditional branch leads; no_block where no code is known there.
  [[nodiscard]] BlockIndex take(BlockIndex way, bool taken) {
    const BlockIndex edge = taken ? ways_[way].taken : ways_[way].not_taken;
    return edge != no_block ? edge : find_edge(way, taken);
  }
  // The same of an indirect transfer that went to the address.
  [[nodiscard]] BlockIndex go(std::uint64_t to) { return went(to).way; }
  // Asks the memory for what go() will read.
  void prefetch(std::uint64_t to) const { __builtin_prefetch(&recent_[slot(to)]); }
  // Where an indirect call returns to, and where the direct one of that number does.
  [[nodiscard]] ReturnPoint behind(BlockIndex way) {
    const std::uint64_t address = ends(way).address_behind();
    if (ways_[way].not_taken == no_block) {
      const BlockIndex found = at(address);
      ways_[way].not_taken = found;
    }
    return {address, ways_[way].not_taken};
  }
  [[nodiscard]] ReturnPoint behind_step(std::uint32_t number) {
    const DirectBranch& step = points_.steps[number];
    if (step.behind == no_block) {
      const BlockIndex found = at(step.address_behind());
      points_.steps[number].behind = found;
    }
    return {step.address_behind(), step.behind};
  }

  // Numbers of targets, and what they are: of an address that go() was asked for, of where the way
  // begins, and of where the step goes.
  [[nodiscard]] std::uint32_t target_gone_to(std::uint64_t address) {
    Went& to = went(address);
    if (to.target == no_target) [[unlikely]] {
      to.target = target_at(address);
      went_to_[address].target = to.target;
    }
    return to.target;
  }
  [[nodiscard]] std::uint32_t target_of_way(BlockIndex way) {
    const std::uint32_t known = points_.ways[way].target;
    return known != no_target ? known : find_target_of(way);
  }
  [[nodiscard]] std::uint32_t target_of_step(std::uint32_t number) {
    const std::uint32_t known = points_.steps[number].target;
    return known != no_target ? known : find_target_of_step(number);
  }
  [[nodiscard]] const Target& target(std::uint32_t number) const { return targets_[number]; }
  // The number of the call site that a branch's exit stands for.
  [[nodiscard]] std::uint32_t site_of(std::uint32_t exit) {
    std::uint32_t& site =
        exit % 2 != 0 ? points_.steps[exit / 2].site : points_.ways[exit / 2].site;
    site = site != no_target ? site : sites_++;
    return site;
  }
  // The way ends in the stub that the last step on it calls.
  [[nodiscard]] bool ends_in_stub(BlockIndex way, std::uint32_t stub) {
    return ways_[way].from_stub != 0 || find_stub(way, stub);
  }
  // The way ends by a jump through a table of the function that it goes on in: what it jumps to is
  // none of the function's entry, and the stack stays.
  [[nodiscard]] bool ends_by_table(BlockIndex way, const Target& target);

private:
  BlockIndex explore(std::uint64_t address);
  BasicBlock follow(std::uint64_t address, BlockEnds& ends);
  BlockIndex find_edge(BlockIndex way, bool taken);
  // What indirect transfers went to; nearly all that a trace asks for are in recent_, by hash.
  struct Went {
    std::uint64_t address = 0;
    BlockIndex way = no_block;
    std::uint32_t target = no_target;
  };
  [[nodiscard]] Went& went(std::uint64_t to) {
    Went& recent = recent_[slot(to)];
    return recent.address == to ? recent : find_target(to);
  }
  // Multiplicative hashing: Knuth, TAOCP vol. 3, 6.4.
  [[nodiscard]] std::size_t slot(std::uint64_t address) const {
    return (address * 0x9e3779b97f4a7c15U) >> (64U - recent_bits_);
  }
  Went& find_target(std::uint64_t to);

  std::uint32_t find_target_of(BlockIndex way);
  std::uint32_t find_target_of_step(std::uint32_t number);
  std::uint32_t target_at(std::uint64_t address);
  std::uint32_t number_of(const symbols::CodePlace& place);
  bool find_stub(BlockIndex way, std::uint32_t stub);

  CodeImage* image_;
  Detail detail_;
  std::vector<BasicBlock, LargePages<BasicBlock>> ways_{1}; // the first is no_block
  CodePoints points_;
  AddressMap<BlockIndex> by_address_;
  AddressMap<Went> went_to_;
  static constexpr unsigned least_recent_bits = 8;
  static constexpr unsigned most_recent_bits = 16;
  unsigned recent_bits_ = least_recent_bits;
  std::vector<Went, LargePages<Went>> recent_;
  std::vector<Target> targets_;
  AddressMap<std::uint32_t> target_numbers_;
  std::map<const symbols::Binary*, std::vector<std::uint32_t>> functions_; // numbers, by index
  std::uint32_t function_count_ = 0;
  std::uint32_t sites_ = 0;
};

} // namespace ptlens::flow
