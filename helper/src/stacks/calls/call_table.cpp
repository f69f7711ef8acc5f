// Collects rows in the order of opening, thread by thread, and sorts them at the end.
#include "stacks/calls/call_table.hpp"

#include "stacks/calls/self_nesting.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace ptlens::stacks {
namespace {

// Stores the row; the rows of its thread begin at `base`.
void put(CallTable& table, std::uint32_t base, const ClosedCall& row) {
  const std::size_t at = std::size_t{base} + index_of(row.order);
  table.function[at] = row.function;
  table.parent[at] =
      row.parent == CallId::none ? CallIndex::none : CallIndex{base + index_of(row.parent)};
  table.site[at] = row.site;
  table.start[at] = row.start;
  table.latency[at] = row.latency;
  table.uncertainty[at] = row.uncertainty;
  table.children[at] = row.children;
  table.outside[at] = row.outside;
  table.blocked[at] = row.blocked;
  table.preempted[at] = row.preempted;
  table.switches[at] = row.switches;
  table.state[at] = row.state;
  table.tail_call[at] = row.tail_call ? 1 : 0;
  table.inner[at] = row.inner ? 1 : 0;
  table.removed[at] = row.removed;
  table.end_unknown[at] = row.end_unknown ? 1 : 0;
}

} // namespace

ClosedCall closed_call(const CallTable& table, std::size_t call, std::size_t first) {
  const CallIndex parent = table.parent[call];
  return {.function = table.function[call],
          .caller = parent == CallIndex::none ? FunctionId::none : table.function[index_of(parent)],
          .site = table.site[call],
          .order = CallId{static_cast<std::uint32_t>(call - first)},
          .parent = parent == CallIndex::none
                        ? CallId::none
                        : CallId{static_cast<std::uint32_t>(index_of(parent) - first)},
          .uncertainty = table.uncertainty[call],
          .switches = table.switches[call],
          .state = table.state[call],
          .tail_call = table.tail_call[call] != 0,
          .inner = table.inner[call] != 0,
          .end_unknown = table.end_unknown[call] != 0,
          .start = table.start[call],
          .latency = table.latency[call],
          .removed = table.removed[call],
          .children = table.children[call],
          .outside = table.outside[call],
          .blocked = table.blocked[call],
          .preempted = table.preempted[call]};
}

CallSink& CallTableBuilder::thread(std::uint32_t index) {
  while (threads_.size() <= index) {
    threads_.push_back(std::make_unique<Rows>());
  }
  return *threads_[index];
}

CallTable CallTableBuilder::take() {
  CallTable table = take_as_opened();
  order(table);
  return table;
}

CallTable CallTableBuilder::take_as_opened() {
  CallTable table;
  for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) {
    std::vector<ClosedCall>& rows = threads_[thread]->rows;
    const auto base = static_cast<std::uint32_t>(table.size());
    each_column(table, [&](auto& column) { column.resize(base + rows.size()); });
    std::fill(table.thread.begin() + base, table.thread.end(), thread);
    for (const ClosedCall& row : rows) {
      put(table, base, row);
    }
    rows = {};
  }
  threads_.clear();
  return table;
}

namespace {

template <class T>
void permute(std::vector<T>& column, const std::vector<std::uint32_t>& order) {
  std::vector<T> moved;
  moved.reserve(column.size());
  for (const std::uint32_t from : order) {
    moved.push_back(column[from]);
  }
  column = std::move(moved);
}

// Returns the number of calls around each call. A late parent may come after its children, so that
// the function walks up to a known depth, then back down.
std::vector<std::uint32_t> depths(const std::vector<CallIndex>& parent) {
  constexpr std::uint32_t unknown = UINT32_MAX;
  std::vector<std::uint32_t> depth(parent.size(), unknown);
  std::vector<CallIndex> path;
  for (std::uint32_t call = 0; call < parent.size(); ++call) {
    path.clear();
    CallIndex at{call};
    while (at != CallIndex::none && depth[index_of(at)] == unknown) {
      path.push_back(at);
      at = parent[index_of(at)];
    }
    std::uint32_t level = at == CallIndex::none ? 0 : depth[index_of(at)] + 1;
    for (auto step = path.rbegin(); step != path.rend(); ++step) {
      depth[index_of(*step)] = level++;
    }
  }
  return depth;
}

// Marks the nested calls of an ordered table.
void mark_inner(CallTable& table) {
  struct Sweep {
    NestingSweep nesting;
    CallIndex outer = CallIndex::none;
  };
  const auto end = [&](CallIndex call) {
    return table.start[index_of(call)] + table.wall(index_of(call));
  };
  IdVector<FunctionId, Sweep> sweeps;
  for (std::uint32_t call = 0; call < table.size(); ++call) {
    const FunctionId function = table.function[call];
    if (!sweeps.has(function)) {
      sweeps.resize(std::size_t{index_of(function)} + 1);
    }
    Sweep& sweep = sweeps[function];
    const CallIndex outer = sweep.outer;
    if (outer != CallIndex::none && table.thread[index_of(outer)] != table.thread[call]) {
      sweep = {};
    }
    const auto is_inside_outer = [&] {
      CallIndex above = table.parent[call];
      while (above != CallIndex::none && above != outer && end(above) == end(outer)) {
        above = table.parent[index_of(above)];
      }
      return above == outer;
    };
    const bool inner =
        sweep.nesting.is_nested(table.start[call], table.wall(call), is_inside_outer);
    table.inner[call] = inner ? 1 : 0;
    sweep.outer = inner ? outer : CallIndex{call};
  }
}

// Returns the calls of the first thread, then of the second, and so on, in the order of opening.
std::vector<std::uint32_t> by_thread(const std::vector<std::uint32_t>& thread) {
  std::vector<std::uint32_t> next(thread.empty() ? 0 : std::ranges::max(thread) + 1);
  for (const std::uint32_t each : thread) {
    ++next[each];
  }
  std::exclusive_scan(next.begin(), next.end(), next.begin(), 0U);
  std::vector<std::uint32_t> order(thread.size());
  for (std::uint32_t call = 0; call < thread.size(); ++call) {
    order[next[thread[call]]++] = call;
  }
  return order;
}

} // namespace

void order(CallTable& table) {
  const auto count = static_cast<std::uint32_t>(table.size());
  // Calls with equal starts are in the order of opening, except for late parents: they come where
  // the first call inside them was opened, outermost first.
  std::vector<std::uint32_t> opened(count);
  std::iota(opened.begin(), opened.end(), 0U);
  bool any_late = false;
  for (std::uint32_t call = 0; call < count; ++call) {
    for (CallIndex above = table.parent[call];
         above != CallIndex::none && opened[index_of(above)] > opened[call];
         above = table.parent[index_of(above)]) {
      opened[index_of(above)] = opened[call];
      any_late = true;
    }
  }
  std::vector<std::uint32_t> depth;
  if (any_late) {
    depth = depths(table.parent);
  }
  std::vector<std::uint32_t> order = by_thread(table.thread);
  const auto before = [&](std::uint32_t one, std::uint32_t other) {
    const auto key = [&](std::uint32_t call) {
      return std::tuple(table.thread[call], table.start[call], opened[call],
                        any_late ? depth[call] : 0, call);
    };
    return key(one) < key(other);
  };
  if (!std::ranges::is_sorted(order, before)) {
    std::ranges::sort(order, before);
  }
  std::vector<std::uint32_t> place(count);
  for (std::size_t i = 0; i < count; ++i) {
    place[order[i]] = static_cast<std::uint32_t>(i);
  }
  for (CallIndex& parent : table.parent) {
    parent = parent == CallIndex::none ? CallIndex::none : CallIndex{place[index_of(parent)]};
  }
  each_column(table, [&order](auto& column) { permute(column, order); });
  mark_inner(table);
}

} // namespace ptlens::stacks
