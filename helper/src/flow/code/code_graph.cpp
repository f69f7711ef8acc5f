// Finds basic blocks by decoding the code once from each address at which one begins.
#include "flow/code/code_graph.hpp"

namespace ptlens::flow {
namespace {

constexpr std::uint16_t most_instructions = 4096; // of a block: a loop of direct jumps has no end
constexpr std::uint8_t most_direct_branches = 64;

} // namespace

BlockId CodeGraph::explore(std::uint64_t address) {
  BlockId id = no_block;
  if (image_->holds(address)) {
    BlockEnds ends{.begin = address};
    std::uint64_t jump_target = 0;
    const BasicBlock block = follow(address, ends, jump_target);
    id = static_cast<BlockId>(blocks_.size());
    blocks_.push_back(block);
    jump_targets_.push_back(jump_target);
    points_.blocks.push_back(ends);
  }
  by_address_.emplace(address, id);
  return id;
}

BlockId CodeGraph::find_edge(BlockId block, bool taken) {
  const BlockId found = at(taken ? jump_targets_[index_of(block)] : ends(block).address_behind());
  blocks_[index_of(block)].edges[taken ? 1 : 0] = found;
  return found;
}

CodeGraph::Target& CodeGraph::find_target(std::uint64_t to) {
  const auto [known, added] = targets_.try_emplace(to, Target{.address = to});
  if (added) {
    known.value().block = at(to);
  }
  const Target found = known->second;
  while (targets_.size() > recent_.size() && recent_bits_ < most_recent_bits) {
    recent_.assign(std::size_t{1} << ++recent_bits_, {});
  }
  return recent_[slot(to)] = found;
}

BasicBlock CodeGraph::follow(std::uint64_t address, BlockEnds& ends, std::uint64_t& jump_target) {
  BasicBlock block{.first_direct = static_cast<DirectBranchId>(points_.direct_branches.size())};
  const auto end_with = [&block](BasicBlock::End end) {
    block.end = static_cast<std::uint8_t>(end);
  };
  while (block.instructions < most_instructions && block.direct_count < most_direct_branches) {
    ends.end_address = address;
    const auto instruction = image_->instruction(address);
    if (!instruction) {
      return block;
    }
    ++block.instructions;
    ends.end_size = instruction->size;
    const std::uint64_t behind = address + instruction->size;
    switch (instruction->kind) {
    case InstructionClass::other:
      address = behind;
      continue;
    case InstructionClass::call_direct:
    case InstructionClass::jump_direct: {
      const bool call = instruction->kind == InstructionClass::call_direct;
      address = instruction->target;
      if (instruction->inside && hides_local_jumps()) {
        continue;
      }
      const bool returns = call && instruction->target != behind;
      points_.direct_branches.push_back({.from = ends.end_address,
                                         .to = instruction->target,
                                         .kind = call ? BranchKind::call : BranchKind::jump,
                                         .from_size = instruction->size,
                                         .returns = returns});
      ++block.direct_count;
      block.calls = block.calls || returns ? 1 : 0;
      continue;
    }
    case InstructionClass::conditional:
      end_with(BasicBlock::End::conditional);
      jump_target = instruction->target;
      block.hidden =
          instruction->target == behind || (instruction->inside && hides_local_jumps()) ? 1 : 0;
      return block;
    case InstructionClass::ret:
      end_with(BasicBlock::End::ret);
      return block;
    case InstructionClass::call_indirect:
      end_with(BasicBlock::End::call);
      return block;
    case InstructionClass::jump_indirect:
      end_with(BasicBlock::End::jump);
      return block;
    case InstructionClass::far_call:
      end_with(BasicBlock::End::system);
      return block;
    default:
      return block;
    }
  }
  return block;
}

} // namespace ptlens::flow
