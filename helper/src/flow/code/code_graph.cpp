// Ways through code, by decoding it once from where each begins.
#include "flow/code/code_graph.hpp"

namespace ptlens::flow {
namespace {

constexpr std::uint16_t most_instructions = 4096; // of a way: a loop of direct jumps has no end
constexpr std::uint8_t most_steps = 64;

} // namespace

BlockIndex CodeGraph::explore(std::uint64_t address) {
  BlockIndex index = no_block;
  if (image_->holds(address)) {
    BlockEnds ends{.begin = address};
    const BasicBlock way = follow(address, ends);
    index = static_cast<BlockIndex>(ways_.size());
    ways_.push_back(way);
    points_.ways.push_back(ends);
  }
  by_address_.emplace(address, index);
  return index;
}

BlockIndex CodeGraph::find_edge(BlockIndex way, bool taken) {
  std::uint64_t to = ends(way).address_behind();
  if (taken) {
    const auto instruction = image_->instruction(ends(way).end_address);
    if (!instruction) {
      return no_block;
    }
    to = instruction->target;
  }
  const BlockIndex found = at(to);
  (taken ? ways_[way].taken : ways_[way].not_taken) = found;
  return found;
}

CodeGraph::Went& CodeGraph::find_target(std::uint64_t to) {
  const auto [known, added] = went_to_.try_emplace(to, Went{.address = to});
  if (added) {
    known.value().way = at(to);
  }
  const Went found = known->second;
  while (went_to_.size() > recent_.size() && recent_bits_ < most_recent_bits) {
    recent_.assign(std::size_t{1} << ++recent_bits_, {});
  }
  return recent_[slot(to)] = found;
}

BasicBlock CodeGraph::follow(std::uint64_t address, BlockEnds& ends) {
  BasicBlock way{.first_step = static_cast<std::uint32_t>(points_.steps.size())};
  const auto end_with = [&way](BasicBlock::End end) { way.end = static_cast<std::uint8_t>(end); };
  while (way.instructions < most_instructions && way.step_count < most_steps) {
    ends.end_address = address;
    const auto instruction = image_->instruction(address);
    if (!instruction) {
      return way;
    }
    ++way.instructions;
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
      if (instruction->inside && tells_calls()) {
        continue;
      }
      const bool returns = call && instruction->target != behind;
      points_.steps.push_back({.from = ends.end_address,
                               .to = instruction->target,
                               .kind = call ? BranchKind::call : BranchKind::jump,
                               .from_size = instruction->size,
                               .returns = returns});
      ++way.step_count;
      way.calls = way.calls || returns ? 1 : 0;
      continue;
    }
    case InstructionClass::conditional:
      end_with(BasicBlock::End::conditional);
      way.untold = instruction->target == behind || (instruction->inside && tells_calls()) ? 1 : 0;
      return way;
    case InstructionClass::ret:
      end_with(BasicBlock::End::ret);
      return way;
    case InstructionClass::call_indirect:
      end_with(BasicBlock::End::call);
      return way;
    case InstructionClass::jump_indirect:
      end_with(BasicBlock::End::jump);
      return way;
    case InstructionClass::far_call:
      end_with(BasicBlock::End::system);
      return way;
    default:
      return way;
    }
  }
  return way;
}

std::uint32_t CodeGraph::number_of(const symbols::CodePlace& place) {
  if (!place.known) {
    return 0;
  }
  const symbols::Binary& binary = *place.mapped->binary;
  std::vector<std::uint32_t>& numbers = functions_[&binary];
  numbers.resize(binary.functions().size());
  std::uint32_t& number = numbers[place.function];
  number = number != 0 ? number : ++function_count_;
  return number;
}

std::uint32_t CodeGraph::target_at(std::uint64_t address) {
  const auto [at, added] =
      target_numbers_.try_emplace(address, static_cast<std::uint32_t>(targets_.size()));
  if (added) {
    const symbols::CodePlace place = image_->place(address);
    const bool twice =
        place.known && symbols::returns_twice(place.mapped->binary->functions()[place.function]);
    targets_.push_back({.function = number_of(place),
                        .lands = place.known && !place.folded && !twice,
                        .entry = place.entry,
                        .part = place.part,
                        .stub = place.folded && !place.thunk && place.entry && !place.part});
  }
  return at->second;
}

std::uint32_t CodeGraph::find_target_of(BlockIndex way) {
  const std::uint32_t found = target_at(ends(way).begin);
  points_.ways[way].target = found;
  return found;
}

std::uint32_t CodeGraph::find_target_of_step(std::uint32_t number) {
  const std::uint32_t found = target_at(step(number).to);
  points_.steps[number].target = found;
  return found;
}

bool CodeGraph::find_stub(BlockIndex way, std::uint32_t stub) {
  const bool found = number_of(image_->place(ends(way).end_address)) == targets_[stub].function;
  ways_[way].from_stub = found ? 1 : 0;
  return found;
}

bool CodeGraph::ends_by_table(BlockIndex way, const Target& target) {
  if (!target.lands || (target.entry && !target.part)) {
    return false;
  }
  BlockEnds& ends = points_.ways[way];
  if (ends.function == no_target) {
    ends.function = number_of(image_->place(ends.end_address));
  }
  if (target.function != ends.function) {
    return false;
  }
  if (ways_[way].keeps_stack == 0) {
    const symbols::CodePlace place = image_->place(ends.end_address);
    if (place.mapped->binary->replaces_stack(ends.end_address - place.mapped->bias)) {
      ends.function = 0;
      return false;
    }
    ways_[way].keeps_stack = 1;
  }
  return true;
}

} // namespace ptlens::flow
