// The targets of calls and jumps in one graph of code, as the rules of transfer see them, and the
// labels by which the graph remembers them. A label is the number of a target or of a call site,
// each counted separately.
#pragma once

#include "flow/code/address_map.hpp"
#include "flow/code/code_graph.hpp"
#include "stacks/transfer/code_location.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace ptlens::stacks {

class CallTargets {
public:
  // The graph must outlive the object, which alone sets its labels.
  explicit CallTargets(flow::CodeGraph& graph) : graph_(&graph) {}

  // Returns the label of the target of an indirect branch that goes to the address.
  [[nodiscard]] flow::Label of_address(std::uint64_t to) {
    const flow::Label known = graph_->target_label(to);
    return known != flow::no_label ? known : find(to);
  }
  // Returns the label of the address at which the block begins.
  [[nodiscard]] flow::Label of(flow::BlockId block) {
    const flow::Label known = graph_->ends(block).target;
    return known != flow::no_label ? known : find(block);
  }
  // Returns the label of the target of a direct branch.
  [[nodiscard]] flow::Label of(flow::DirectBranchId branch) {
    const flow::Label known = graph_->direct(branch).target;
    return known != flow::no_label ? known : find(branch);
  }
  // Returns the target. Its function has a number of this object's own; 0: it is not known.
  [[nodiscard]] const CodeLocation& operator[](flow::Label target) const {
    return targets_[target];
  }

  // Returns the label of the call site that a branch comes from.
  [[nodiscard]] flow::Label site_of(flow::BranchPointId from_id);

  // Returns true where the block ends in the stub at the target.
  [[nodiscard]] bool ends_in_stub(flow::BlockId block, flow::Label stub) {
    return (graph_->ends(block).end_flags & in_stub) != 0 || find_stub(block, stub);
  }
  // Returns true where the block ends by a jump through a table of its own function to `to`: the
  // stack stays, and no call begins.
  [[nodiscard]] bool ends_by_table(flow::BlockId block, const CodeLocation& to);

private:
  // Bits of BlockEnds::end_flags.
  static constexpr std::uint8_t in_stub = 1;     // the block is known to end in the stub it calls
  static constexpr std::uint8_t keeps_stack = 2; // its last instruction is known to keep the stack

  flow::Label find(std::uint64_t to);
  flow::Label find(flow::BlockId block);
  flow::Label find(flow::DirectBranchId branch);
  bool find_stub(flow::BlockId block, flow::Label stub);
  flow::Label at(std::uint64_t address);
  FunctionId function_of(const symbols::CodePlace& place);

  flow::CodeGraph* graph_;
  std::vector<CodeLocation> targets_;
  flow::AddressMap<flow::Label> by_address_;
  std::map<const symbols::Binary*, std::vector<FunctionId>> functions_; // by index
  std::uint32_t function_count_ = 0;
  flow::Label sites_ = 0; // so far
};

inline flow::Label CallTargets::site_of(flow::BranchPointId from_id) {
  const std::uint32_t index = flow::CodePoints::index_in_kind(from_id);
  flow::Label& site = flow::CodePoints::is_direct(from_id)
                          ? graph_->labels(flow::DirectBranchId{index}).site
                          : graph_->labels(flow::BlockId{index}).site;
  site = site != flow::no_label ? site : sites_++;
  return site;
}

} // namespace ptlens::stacks
