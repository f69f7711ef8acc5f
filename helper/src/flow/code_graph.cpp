// Ways through code, by decoding it once from where each begins.
#include "flow/code_graph.hpp"

namespace ptlens::flow {
namespace {

constexpr std::uint16_t most_instructions = 4096; // of a way: a loop of direct jumps has no end
constexpr std::uint8_t most_steps = 64;

} // namespace

WayIndex CodeGraph::explore(std::uint64_t address) {
  WayIndex index = no_way;
  if (image_->holds(address)) {
    index = static_cast<WayIndex>(ways_.size());
    ways_.push_back(follow(address));
  }
  by_address_.emplace(address, index);
  return index;
}

WayIndex CodeGraph::find_edge(WayIndex way, bool taken) {
  std::uint64_t to = ways_[way].address_behind();
  if (taken) {
    const auto instruction = image_->known_instruction(ways_[way].end_address);
    if (!instruction) {
      return no_way;
    }
    to = instruction->target;
  }
  const WayIndex found = at(to);
  (taken ? ways_[way].taken : ways_[way].not_taken) = found;
  return found;
}

WayIndex CodeGraph::find_target(WayIndex way, std::uint64_t to) {
  const auto [target, added] = targets_.try_emplace(to, no_way);
  if (added) {
    target.value() = at(to);
  }
  const WayIndex found = target->second;
  if (found != no_way) {
    if (!ways_[way].ends_with(Way::End::call)) {
      ways_[way].not_taken = ways_[way].taken;
    }
    ways_[way].taken = found;
  }
  return found;
}

Way CodeGraph::follow(std::uint64_t address) {
  Way way{.begin = address, .first_step = static_cast<std::uint32_t>(steps_.size())};
  const auto ends = [&way](Way::End end) { way.end = static_cast<std::uint8_t>(end); };
  while (way.instructions < most_instructions && way.step_count < most_steps) {
    way.end_address = address;
    const auto instruction = image_->instruction(address);
    if (!instruction) {
      return way;
    }
    ++way.instructions;
    way.end_size = instruction->size & 0xfU;
    const std::uint64_t behind = address + instruction->size;
    switch (instruction->kind) {
    case InstructionClass::other:
      address = behind;
      continue;
    case InstructionClass::call_direct:
    case InstructionClass::jump_direct: {
      const bool call = instruction->kind == InstructionClass::call_direct;
      address = instruction->target;
      if (instruction->inside && detail_ == Detail::calls) {
        continue;
      }
      const bool returns = call && instruction->target != behind;
      steps_.push_back({.from = way.end_address,
                        .to = instruction->target,
                        .kind = call ? BranchKind::call : BranchKind::jump,
                        .from_size = instruction->size,
                        .returns = returns});
      ++way.step_count;
      way.calls = way.calls || returns ? 1 : 0;
      continue;
    }
    case InstructionClass::conditional:
      ends(Way::End::conditional);
      way.untold =
          instruction->target == behind || (instruction->inside && detail_ == Detail::calls) ? 1
                                                                                             : 0;
      return way;
    case InstructionClass::ret:
      ends(Way::End::ret);
      return way;
    case InstructionClass::call_indirect:
      ends(Way::End::call);
      return way;
    case InstructionClass::jump_indirect:
      ends(Way::End::jump);
      return way;
    case InstructionClass::far_call:
      ends(Way::End::system);
      return way;
    default:
      return way;
    }
  }
  return way;
}

} // namespace ptlens::flow
