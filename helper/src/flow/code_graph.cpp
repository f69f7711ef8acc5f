// Ways through code, by decoding it once from where each begins.
#include "flow/code_graph.hpp"

namespace ptlens::flow {
namespace {

constexpr std::uint32_t most_instructions = 4096; // of a way: a loop of direct jumps has no end
constexpr std::size_t most_steps = 64;

} // namespace

Way* CodeGraph::explore(std::uint64_t address) {
  Way* way = nullptr;
  if (image_->holds(address)) {
    way = &ways_.emplace_back();
    way->begin = address;
    follow(*way);
  }
  by_address_.emplace(address, way);
  return way;
}

void CodeGraph::follow(Way& way) const {
  std::uint64_t address = way.begin;
  while (way.instructions < most_instructions && way.steps.size() < most_steps) {
    way.end_address = address;
    const auto instruction = image_->instruction(address);
    if (!instruction) {
      return;
    }
    ++way.instructions;
    way.end_size = instruction->size;
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
      Way::Step& step = way.steps.emplace_back();
      step.branch = {.from = way.end_address,
                     .to = instruction->target,
                     .kind = call ? BranchKind::call : BranchKind::jump,
                     .from_size = instruction->size};
      step.returns = call && instruction->target != behind;
      step.behind.address = behind;
      way.calls = way.calls || step.returns;
      continue;
    }
    case InstructionClass::conditional:
      way.end = Way::End::conditional;
      way.target = instruction->target;
      way.untold =
          instruction->target == behind || (instruction->inside && detail_ == Detail::calls);
      return;
    case InstructionClass::ret:
      way.end = Way::End::ret;
      return;
    case InstructionClass::call_indirect:
      way.end = Way::End::call;
      way.behind.address = behind;
      return;
    case InstructionClass::jump_indirect:
      way.end = Way::End::jump;
      return;
    default:
      return;
    }
  }
}

} // namespace ptlens::flow
