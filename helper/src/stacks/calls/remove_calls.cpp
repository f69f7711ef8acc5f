// Corrects parents and times first, then compacts every column once.
#include "stacks/calls/remove_calls.hpp"

#include "stacks/calls/call_table.hpp"

#include <algorithm>

namespace ptlens::stacks {
namespace {

template <class T>
void compact(std::vector<T>& column, const std::vector<std::uint8_t>& gone) {
  std::size_t kept = 0;
  for (std::size_t row = 0; row < gone.size(); ++row) {
    if (gone[row] == 0) {
      column[kept++] = column[row];
    }
  }
  column.resize(kept);
}

} // namespace

void remove_calls(CallTable& table, const std::vector<std::uint8_t>& gone) {
  if (std::ranges::find(gone, 1) == gone.end()) {
    return;
  }
  const std::size_t count = table.size();
  const auto kept_parent = [&](std::size_t row) {
    CallIndex parent = table.parent[row];
    while (parent != CallIndex::none && gone[index_of(parent)] != 0) {
      parent = table.parent[index_of(parent)];
    }
    return parent;
  };
  std::vector<CallIndex> place(count, CallIndex::none);
  std::uint32_t kept = 0;
  for (std::size_t row = 0; row < count; ++row) {
    if (gone[row] == 0) {
      place[row] = CallIndex{kept++};
    } else if (const CallIndex parent = kept_parent(row); parent != CallIndex::none) {
      std::uint64_t& children = table.children[index_of(parent)];
      children -= std::min(children, table.self(row));
    }
  }
  for (std::size_t row = 0; row < count; ++row) {
    if (gone[row] == 0) {
      table.parent[row] = kept_parent(row);
    }
  }
  for (std::size_t row = 0; row < count; ++row) {
    if (gone[row] == 0 && table.parent[row] != CallIndex::none) {
      table.parent[row] = place[index_of(table.parent[row])];
    }
  }
  each_column(table, [&gone](auto& column) { compact(column, gone); });
}

} // namespace ptlens::stacks
