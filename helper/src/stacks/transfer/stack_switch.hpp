// When a transfer of control switches to another stack of the thread: code that has replaced the
// stack goes, by a return or an indirect jump, to the address that another stack waits for.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/code/code_points.hpp"
#include "stacks/frames/suspended_stacks.hpp"
#include "stacks/transfer/code_facts.hpp"
#include "stacks/transfer/transfer_rules.hpp"

namespace ptlens::stacks {

[[nodiscard]] inline bool switches_stack(const flow::Branch& branch,
                                         const symbols::AddressSpaceVersion& space,
                                         const SuspendedStacks& suspended, CodeFacts& facts) {
  return leaves_indirectly(branch.kind) && suspended.waits_at(branch.to) &&
         facts.replaces_stack(space, branch.from);
}

// The same for the return or indirect jump that ends a block. Calls `to` for the address that it
// goes to only where the answer depends on it.
template <class To>
[[nodiscard]] bool switches_stack(const flow::CodePoints& points, flow::BlockId block, const To& to,
                                  const symbols::AddressSpaceVersion& space,
                                  const SuspendedStacks& suspended, CodeFacts& facts) {
  return facts.replaces_stack(space, points, block, [&] { return suspended.waits_at(to()); });
}

} // namespace ptlens::stacks
