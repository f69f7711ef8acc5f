// Code as a graph of decisions. A node is the straight way from an address to the next instruction
// whose outcome the trace tells: a conditional branch, an indirect transfer, a return; direct jumps
// and calls on the way are folded into it. A bit of a TNT packet is then one step along an edge.
// Built where the trace leads, and kept.
#pragma once

#include "flow/address_map.hpp"
#include "flow/branch.hpp"
#include "flow/code_image.hpp"

#include <cstdint>
#include <deque>
#include <vector>

namespace ptlens::flow {

struct Way;

// An address that a call returns to, and the way that begins there, nullptr until it is known.
struct ReturnPoint {
  std::uint64_t address = 0;
  Way* way = nullptr;
};

struct Way {
  enum class End : std::uint8_t {
    conditional,
    ret,
    call,    // indirect
    jump,    // indirect
    unclear, // far, unknown or too far to see: to be followed instruction by instruction
  };
  struct Step { // a direct call or jump on the way that is told
    Branch branch;
    bool returns = false; // a call that is not to the next instruction
    ReturnPoint behind;   // of such a call
  };

  Way* taken = nullptr;       // of a conditional branch, nullptr until it was
  Way* not_taken = nullptr;   // the same
  Way* last_target = nullptr; // of an indirect transfer
  End end = End::unclear;
  bool calls = false;             // one of the steps returns
  bool untold = false;            // of a conditional branch: it is none of those that are told
  std::uint8_t end_size = 0;      // bytes of the instruction that decides
  std::uint32_t instructions = 0; // that one included
  std::vector<Step> steps;
  std::uint64_t begin = 0;
  std::uint64_t end_address = 0; // of that instruction
  std::uint64_t target = 0;      // of a conditional branch
  ReturnPoint behind;            // of an indirect call

  [[nodiscard]] std::uint64_t address_behind() const { return end_address + end_size; }
};

// Which branches are told.
enum class Detail : std::uint8_t {
  branches, // all that were taken
  calls,    // not direct ones inside a function, but for the last conditional one before a break
};

class CodeGraph {
public:
  // The image must outlive the graph.
  CodeGraph(CodeImage& image, Detail detail) : image_(&image), detail_(detail) {}

  [[nodiscard]] CodeImage& image() const { return *image_; }
  [[nodiscard]] Detail detail() const { return detail_; }

  // The way that begins at the process address; nullptr where no code is known there. It stands as
  // long as the graph.
  [[nodiscard]] Way* at(std::uint64_t address) {
    const auto found = by_address_.find(address);
    return found != by_address_.end() ? found->second : explore(address);
  }

private:
  Way* explore(std::uint64_t address);
  void follow(Way& way) const;

  CodeImage* image_;
  Detail detail_;
  std::deque<Way> ways_;
  AddressMap<Way*> by_address_;
};

} // namespace ptlens::flow
