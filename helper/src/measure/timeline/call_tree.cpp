#include "measure/timeline/call_tree.hpp"

#include <unordered_map>

namespace ptlens::measure {

namespace {

// Gives each call in the call to `take`, with its depth. The calls of a thread are in order of
// start and follow their callers.
template <class Take>
void walk(const stacks::CallTable& table, std::uint32_t row, const Take& take) {
  std::unordered_map<std::uint32_t, std::uint32_t> depths = {{row, 0}};
  const std::uint64_t end = table.start[row] + table.wall(row);
  for (std::uint32_t at = row + 1;
       at < table.size() && table.thread[at] == table.thread[row] && table.start[at] <= end; ++at) {
    const auto parent = depths.find(index_of(table.parent[at]));
    if (parent != depths.end()) {
      const std::uint32_t depth = parent->second + 1;
      depths.emplace(at, depth);
      take(at, depth);
    }
  }
}

} // namespace

CallTree calls_in(const stacks::CallTable& table, std::uint32_t row, std::size_t most) {
  CallTree tree{.calls = {{.row = row, .depth = 0}}};
  walk(table, row, [&](std::uint32_t at, std::uint32_t depth) {
    if (tree.calls.size() < most) {
      tree.calls.push_back({.row = at, .depth = depth});
    } else {
      ++tree.left_out;
    }
  });
  return tree;
}

std::vector<std::uint32_t> children_of(const stacks::CallTable& table, std::uint32_t row) {
  std::vector<std::uint32_t> children;
  walk(table, row, [&](std::uint32_t at, std::uint32_t depth) {
    if (depth == 1) {
      children.push_back(at);
    }
  });
  return children;
}

} // namespace ptlens::measure
