// Looks targets up in the symbols, each once.
#include "stacks/pairing/call_targets.hpp"

#include "stacks/transfer/goroutine_switch.hpp"

namespace ptlens::stacks {

FunctionId CallTargets::function_of(const symbols::CodePlace& place) {
  if (!place.known) {
    return FunctionId{};
  }
  const symbols::Binary& binary = *place.mapped->binary;
  std::vector<FunctionId>& numbers = functions_[&binary];
  numbers.resize(binary.functions().size());
  FunctionId& number = numbers[place.function];
  number = number != FunctionId{} ? number : FunctionId{++function_count_};
  return number;
}

flow::Label CallTargets::at(std::uint64_t address) {
  const auto [known, added] =
      by_address_.try_emplace(address, static_cast<flow::Label>(targets_.size()));
  if (added) {
    const symbols::CodePlace place = graph_->image().place(address);
    targets_.push_back(code_location(place, function_of(place)));
  }
  return known->second;
}

flow::Label CallTargets::find(std::uint64_t to) {
  const flow::Label found = at(to);
  graph_->set_target_label(to, found);
  return found;
}

flow::Label CallTargets::find(flow::BlockId block) {
  const flow::Label found = at(graph_->ends(block).begin);
  graph_->labels(block).target = found;
  return found;
}

bool CallTargets::find_stub(flow::BlockId block, flow::Label stub) {
  const bool found = function_of(graph_->image().place(graph_->ends(block).end_address)) ==
                     targets_[stub].function;
  if (found) {
    graph_->labels(block).end_flags |= in_stub;
  }
  return found;
}

bool CallTargets::ends_by_table(flow::BlockId block, const CodeLocation& to) {
  if (!may_be_table_jump(to)) {
    return false;
  }
  flow::BlockEnds& ends = graph_->labels(block);
  if (ends.function == flow::no_label) {
    ends.function = index_of(function_of(graph_->image().place(ends.end_address)));
  }
  return index_of(to.function) == ends.function && keeps_stack(block);
}

// The functions of Go that continue a goroutine jump like any other.
bool CallTargets::find_stack(flow::BlockId block) {
  flow::BlockEnds& ends = graph_->labels(block);
  const symbols::CodePlace place = graph_->image().place(ends.end_address);
  const bool kept =
      place.known && !place.mapped->binary->replaces_stack(ends.end_address - place.mapped->bias) &&
      go_role(*place.mapped->binary, place.mapped->binary->functions()[place.function]) !=
          GoRole::continues;
  ends.end_flags |= has_stack_known | (kept ? has_stack_kept : 0);
  return kept;
}

} // namespace ptlens::stacks
