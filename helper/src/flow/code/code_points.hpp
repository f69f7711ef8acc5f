// Where the ways of a graph of code begin and end, and what lies on them, by the numbers that
// branches bear. It may be read by another thread than the one that adds to it: of what it was told
// numbers of.
#pragma once

#include "base/stable_vector.hpp"
#include "flow/branches/branch.hpp"

#include <cstdint>
#include <limits>

namespace ptlens::flow {

// Index of a way in its graph.
using BlockIndex = std::uint32_t;
inline constexpr BlockIndex no_block = 0; // where no code is known, or an edge not yet followed

inline constexpr std::uint32_t no_target = std::numeric_limits<std::uint32_t>::max();

struct BlockEnds {
  std::uint64_t begin = 0;
  std::uint64_t end_address = 0; // of the instruction that decides
  std::uint8_t end_size = 0;     // its bytes
  // Of the thread that adds: see CodeGraph.
  std::uint32_t target = no_target;
  std::uint32_t site = no_target;
  std::uint32_t function = no_target;

  [[nodiscard]] std::uint64_t address_behind() const { return end_address + end_size; }
};
static_assert(sizeof(BlockEnds) == 32);

struct DirectBranch { // a direct call or jump on a way, that is told
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  BranchKind kind = BranchKind::jump;
  std::uint8_t from_size = 0;
  bool returns = false; // a call that is not to the next instruction
  // Of the thread that adds.
  BlockIndex behind = no_block; // where a call returns to, no_block until it is known
  std::uint32_t target = no_target;
  std::uint32_t site = no_target;

  [[nodiscard]] std::uint64_t address_behind() const { return from + from_size; }
};
static_assert(sizeof(DirectBranch) == 32);

class CodePoints {
public:
  CodePoints() {
    ways.push_back({});  // no_block
    steps.push_back({}); // so that the first has an exit too
  }

  // Numbers as branches bear them: of where a step comes from and goes to, and of where a way ends
  // and begins.
  [[nodiscard]] static std::uint32_t number_of_step(std::uint32_t step) { return 2 * step + 1; }
  [[nodiscard]] static std::uint32_t number_of_way(BlockIndex way) { return 2 * way; }

  // The address, and the bytes of the instruction there, that Branch::exit stands for.
  struct Instruction {
    std::uint64_t address = 0;
    std::uint8_t size = 0;
    [[nodiscard]] std::uint64_t address_behind() const { return address + size; }
  };
  [[nodiscard]] Instruction exit(std::uint32_t number) const {
    if (number % 2 != 0) {
      return {steps[number / 2].from, steps[number / 2].from_size};
    }
    return {ways[number / 2].end_address, ways[number / 2].end_size};
  }
  // The address that Branch::arrival stands for.
  [[nodiscard]] std::uint64_t arrival(std::uint32_t number) const {
    return number % 2 != 0 ? steps[number / 2].to : ways[number / 2].begin;
  }

  // Branches without time: one on a way, one by which a way ends, and one by its numbers.
  [[nodiscard]] Branch branch_of_step(std::uint32_t number) const {
    const DirectBranch& step = steps[number];
    return {.from = step.from,
            .to = step.to,
            .kind = step.kind,
            .from_size = step.from_size,
            .exit = number_of_step(number),
            .arrival = number_of_step(number)};
  }
  [[nodiscard]] Branch branch_of_way(BlockIndex way, BranchKind kind, std::uint64_t to,
                                     BlockIndex arrival = no_block) const {
    const BlockEnds& ends = ways[way];
    return {.from = ends.end_address,
            .to = to,
            .kind = kind,
            .from_size = ends.end_size,
            .exit = number_of_way(way),
            .arrival = number_of_way(arrival)};
  }
  [[nodiscard]] Branch branch_of(std::uint32_t exit_number, std::uint32_t arrival_number,
                                 BranchKind kind) const {
    const Instruction from = exit(exit_number);
    return {.from = from.address,
            .to = arrival(arrival_number),
            .kind = kind,
            .from_size = from.size,
            .exit = exit_number,
            .arrival = arrival_number};
  }

  StableVector<BlockEnds> ways;
  StableVector<DirectBranch> steps;
};

} // namespace ptlens::flow
