// The columns of CallTable, written in order of opening and put into their final order at the end.
#include "stacks/call_log.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace ptlens::stacks {
namespace {

std::uint32_t sum_or_most(std::uint32_t one, std::uint32_t other) {
  const std::uint64_t sum = std::uint64_t{one} + other;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(sum, std::numeric_limits<std::uint32_t>::max()));
}

} // namespace

std::uint32_t CallLog::open(std::uint32_t function, std::uint32_t parent, std::uint32_t site,
                            std::uint64_t start_ns, bool tail_call) {
  const auto call = static_cast<std::uint32_t>(table_->size());
  table_->thread.push_back(thread_);
  table_->function.push_back(function);
  table_->parent.push_back(parent);
  table_->site.push_back(site);
  table_->start.push_back(start_ns);
  table_->latency.push_back(0);
  table_->resolution.push_back(spread_ns_);
  table_->children.push_back(0);
  table_->outside.push_back(0);
  table_->blocked.push_back(0);
  table_->preempted.push_back(0);
  table_->switches.push_back(0);
  table_->state.push_back(CallState::incomplete);
  table_->tail_call.push_back(tail_call ? 1 : 0);
  table_->inner.push_back(active_[function]++ != 0 ? 1 : 0);
  return call;
}

void CallLog::close(std::uint32_t call, std::uint64_t end_ns, CallState state) {
  const std::uint64_t start = table_->start[call];
  const std::uint64_t end = std::max(start, end_ns);
  const flow::OffCpu off = schedule_->off_cpu(tid_, start, end);
  table_->latency[call] = end - start;
  table_->resolution[call] = sum_or_most(table_->resolution[call], spread_ns_);
  table_->blocked[call] = off.blocked_ns;
  table_->preempted[call] = off.preempted_ns;
  table_->switches[call] = off.switches;
  table_->state[call] = state;
  if (const std::uint32_t parent = table_->parent[call]; parent != no_call) {
    table_->children[parent] += end - start;
    table_->outside[parent] += table_->outside[call];
  }
  --active_[table_->function[call]];
}

void CallLog::rename(std::uint32_t call, std::uint32_t function) {
  --active_[table_->function[call]];
  table_->function[call] = function;
  table_->inner[call] = active_[function]++ != 0 ? 1 : 0;
}

void CallLog::adopt(std::uint32_t call, std::uint32_t parent) {
  table_->parent[call] = parent;
  table_->children[parent] += table_->latency[call];
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

// A parent that was found late may have activations of its function below it that were opened as
// outermost ones. One depth-first walk with a counter of open activations a function.
void mark_inner(CallTable& table) {
  const std::size_t count = table.size();
  std::vector<std::uint32_t> first_child(count, no_call);
  std::vector<std::uint32_t> next_sibling(count, no_call);
  std::uint32_t first_root = no_call;
  std::uint32_t functions = 0;
  for (std::size_t left = count; left > 0; --left) {
    const auto call = static_cast<std::uint32_t>(left - 1);
    const std::uint32_t parent = table.parent[call];
    std::uint32_t& head = parent == no_call ? first_root : first_child[parent];
    next_sibling[call] = std::exchange(head, call);
    functions = std::max(functions, table.function[call] + 1);
  }
  std::vector<std::uint32_t> open(functions, 0);
  std::uint32_t call = first_root;
  while (call != no_call) {
    if (open[table.function[call]]++ != 0) {
      table.inner[call] = 1;
    }
    if (first_child[call] != no_call) {
      call = first_child[call];
      continue;
    }
    --open[table.function[call]];
    while (next_sibling[call] == no_call && table.parent[call] != no_call) {
      call = table.parent[call];
      --open[table.function[call]];
    }
    call = next_sibling[call];
  }
}

} // namespace

void order(CallTable& table) {
  const std::size_t count = table.size();
  std::vector<std::uint32_t> depth(count, 0);
  // A parent found late stands behind its children: walk up until a known depth, then back down.
  std::vector<std::uint32_t> path;
  std::vector<bool> known(count, false);
  std::vector<bool> late(count, false);
  for (std::size_t call = 0; call < count; ++call) {
    if (table.parent[call] != no_call && table.parent[call] > call) {
      late[table.parent[call]] = true;
    }
    path.clear();
    auto at = static_cast<std::uint32_t>(call);
    while (at != no_call && !known[at]) {
      path.push_back(at);
      at = table.parent[at];
    }
    std::uint32_t level = at == no_call ? 0 : depth[at] + 1;
    for (auto step = path.rbegin(); step != path.rend(); ++step) {
      depth[*step] = level++;
      known[*step] = true;
    }
  }
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  // Among equal starts the order of opening stands, but for parents found late: they hold all else
  // that begins with them, outermost first.
  std::ranges::stable_sort(order, [&](std::uint32_t one, std::uint32_t other) {
    if (table.thread[one] != table.thread[other]) {
      return table.thread[one] < table.thread[other];
    }
    if (table.start[one] != table.start[other]) {
      return table.start[one] < table.start[other];
    }
    if (late[one] != late[other]) {
      return static_cast<bool>(late[one]);
    }
    return late[one] && depth[one] < depth[other];
  });
  std::vector<std::uint32_t> place(count);
  for (std::size_t i = 0; i < count; ++i) {
    place[order[i]] = static_cast<std::uint32_t>(i);
  }
  for (std::uint32_t& parent : table.parent) {
    parent = parent == no_call ? no_call : place[parent];
  }
  permute(table.thread, order);
  permute(table.function, order);
  permute(table.parent, order);
  permute(table.site, order);
  permute(table.start, order);
  permute(table.latency, order);
  permute(table.resolution, order);
  permute(table.children, order);
  permute(table.outside, order);
  permute(table.blocked, order);
  permute(table.preempted, order);
  permute(table.switches, order);
  permute(table.state, order);
  permute(table.tail_call, order);
  permute(table.inner, order);
  if (std::ranges::find(late, true) != late.end()) {
    mark_inner(table);
  }
}

} // namespace ptlens::stacks
