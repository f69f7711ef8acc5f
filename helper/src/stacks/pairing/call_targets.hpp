// The targets of calls and jumps in one graph of code, as the rules of transfer see them, and the
// labels by which the graph remembers them. A label is the number of a target or of a call site,
// each counted separately.
#pragma once

#include "flow/code/address_map.hpp"
#include "flow/code/code_graph.hpp"
#include "stacks/transfer/code_location.hpp"
#include "stacks/transfer/transfer_rules.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace ptlens::stacks {

class CallTargets {
public:
  // The graph must outlive the object, which alone sets its labels.
  explicit CallTargets(flow::CodeGraph& graph) : graph_(&graph) {}

  // Returns the label of the target of an indirect branch that goes to the address.
  [[nodiscard]] flow::Label of(const flow::CodeGraph::Target& to) {
    return to.label != flow::no_label ? to.label : find(to.address);
  }
  // Returns the label of the address at which the block begins.
  [[nodiscard]] flow::Label of(flow::BlockId block) {
    const flow::Label known = graph_->ends(block).target;
    return known != flow::no_label ? known : find(block);
  }
  // Returns the label of the target of a direct branch.
  [[nodiscard]] flow::Label of(flow::DirectBranch& branch) {
    branch.target = branch.target != flow::no_label ? branch.target : at(branch.to);
    return branch.target;
  }
  // Returns the target. Its function has a number of this object's own; 0: it is not known.
  [[nodiscard]] const CodeLocation& operator[](flow::Label target) const {
    return targets_[target];
  }

  // Returns the label of the call site that a branch, or the end of a block, comes from.
  [[nodiscard]] flow::Label site_of(flow::DirectBranch& branch) { return known_site(branch.site); }
  [[nodiscard]] flow::Label site_of(flow::BlockId block) {
    return known_site(graph_->labels(block).site);
  }

  // Returns true where the block is known to end in the stub that it calls.
  [[nodiscard]] bool is_known_stub(flow::BlockId block) const {
    return (graph_->ends(block).end_flags & in_stub) != 0;
  }
  // Returns true where the block ends in the stub at the target.
  [[nodiscard]] bool ends_in_stub(flow::BlockId block, flow::Label stub) {
    return is_known_stub(block) || find_stub(block, stub);
  }
  // Returns true where the block ends by a jump through a table of its own function to `to`: the
  // stack stays, and no call begins.
  [[nodiscard]] bool ends_by_table(flow::BlockId block, const CodeLocation& to);
  // Returns true where the block ends by an indirect jump to `to` that is a tail call whatever came
  // before: the stack stays.
  [[nodiscard]] bool ends_by_tail_call(flow::BlockId block, const CodeLocation& to) {
    return is_certain(to) && to.entry && !to.part && keeps_stack(block);
  }

private:
  // Bits of BlockEnds::end_flags.
  static constexpr std::uint8_t in_stub = 1; // the block is known to end in the stub it calls
  // What its last instruction does with the stack is known, and that it keeps it.
  static constexpr std::uint8_t has_stack_known = 2;
  static constexpr std::uint8_t has_stack_kept = 4;

  flow::Label find(std::uint64_t to);
  flow::Label find(flow::BlockId block);
  bool find_stub(flow::BlockId block, flow::Label stub);
  // Returns true where the instruction that ends the block cannot lead to another stack.
  [[nodiscard]] bool keeps_stack(flow::BlockId block) {
    const std::uint8_t flags = graph_->ends(block).end_flags;
    return (flags & has_stack_known) != 0 ? (flags & has_stack_kept) != 0 : find_stack(block);
  }
  bool find_stack(flow::BlockId block);
  flow::Label at(std::uint64_t address);
  flow::Label known_site(flow::Label& site) {
    site = site != flow::no_label ? site : sites_++;
    return site;
  }
  FunctionId function_of(const symbols::CodePlace& place);

  flow::CodeGraph* graph_;
  std::vector<CodeLocation> targets_;
  flow::AddressMap<flow::Label> by_address_;
  std::map<const symbols::Binary*, std::vector<FunctionId>> functions_; // by index
  std::uint32_t function_count_ = 0;
  flow::Label sites_ = 0; // so far
};

} // namespace ptlens::stacks
