// A depth-first walk over the call tree with one counter of open activations a function. The tree
// is threaded (first child, next sibling, and the table's own parent column), so the walk needs
// neither native recursion nor a stack.
#include "measure/call_tree.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace ptlens::measure {

namespace {

using stacks::no_call;

struct Threaded {
  std::vector<std::uint32_t> first_child;
  std::vector<std::uint32_t> next_sibling;
  std::uint32_t first_root = no_call;
};

Threaded thread_tree(const std::vector<std::uint32_t>& parent) {
  Threaded tree;
  tree.first_child.assign(parent.size(), no_call);
  tree.next_sibling.resize(parent.size());
  for (std::size_t left = parent.size(); left > 0; --left) {
    const std::size_t call = left - 1;
    std::uint32_t& head =
        parent[call] == no_call ? tree.first_root : tree.first_child[parent[call]];
    tree.next_sibling[call] = head;
    head = static_cast<std::uint32_t>(call);
  }
  return tree;
}

using Flags = std::vector<std::uint8_t>; // one a call

// Nothing when it would take more steps than there are calls.
std::optional<Flags> look_up(const stacks::CallTable& calls, std::span<const std::uint32_t> counted,
                             const Flags& is_counted) {
  Flags covered(calls.size(), 0);
  std::size_t steps = 0;
  for (const std::uint32_t call : counted) {
    if (calls.inner[call] == 0) {
      continue;
    }
    for (std::uint32_t above = calls.parent[call]; above != no_call; above = calls.parent[above]) {
      if (++steps > calls.size()) {
        return std::nullopt;
      }
      if (is_counted[above] != 0 && calls.function[above] == calls.function[call]) {
        covered[call] = 1;
        break;
      }
    }
  }
  return covered;
}

Flags walk_down(const stacks::CallTable& calls, const Flags& is_counted, std::size_t functions) {
  const Threaded tree = thread_tree(calls.parent);
  Flags covered(calls.size(), 0);
  std::vector<std::uint32_t> open(functions, 0);
  const auto leave = [&](std::uint32_t call) { open[calls.function[call]] -= is_counted[call]; };

  std::uint32_t call = tree.first_root;
  while (call != no_call) {
    std::uint32_t& activations = open[calls.function[call]];
    covered[call] = static_cast<std::uint8_t>(is_counted[call] != 0 && activations > 0);
    activations += is_counted[call];
    if (tree.first_child[call] != no_call) {
      call = tree.first_child[call];
      continue;
    }
    leave(call);
    while (tree.next_sibling[call] == no_call && calls.parent[call] != no_call) {
      call = calls.parent[call];
      leave(call);
    }
    call = tree.next_sibling[call];
  }
  return covered;
}

} // namespace

std::vector<std::uint8_t> covered_calls(const stacks::CallTable& calls,
                                        std::span<const std::uint32_t> counted,
                                        std::size_t functions) {
  if (std::ranges::none_of(counted, [&](std::uint32_t call) { return calls.inner[call] != 0; })) {
    return {};
  }
  Flags is_counted(calls.size(), 0);
  for (const std::uint32_t call : counted) {
    is_counted[call] = 1;
  }
  if (std::optional<Flags> covered = look_up(calls, counted, is_counted)) {
    return std::move(*covered);
  }
  return walk_down(calls, is_counted, functions);
}

} // namespace ptlens::measure
