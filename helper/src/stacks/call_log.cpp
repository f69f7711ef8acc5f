// The columns of CallTable, written in order of opening and put into their final order at the end.
#include "stacks/call_log.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
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
  table_->parent.push_back(innermost(parent));
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
  table_->inner.push_back(0);
  return call;
}

void CallLog::nest(std::uint32_t call, std::uint32_t row) {
  if (row == no_call) {
    nested_.erase(call);
  } else {
    nested_.insert_or_assign(call, row);
  }
}

std::uint32_t CallLog::innermost(std::uint32_t call) const {
  if (nested_.empty()) {
    return call;
  }
  const auto found = nested_.find(call);
  return found == nested_.end() ? call : found->second;
}

void CallLog::close(std::uint32_t call, std::uint64_t end_ns, CallState state) {
  if (listener_ != nullptr) {
    listener_->closing(call, end_ns, state);
    nested_.erase(call);
  }
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

// How many calls each call lies in. A parent found late may stand behind its children: walk up
// until a known depth, then back down.
std::vector<std::uint32_t> depths(const std::vector<std::uint32_t>& parent) {
  constexpr std::uint32_t unknown = UINT32_MAX;
  std::vector<std::uint32_t> depth(parent.size(), unknown);
  std::vector<std::uint32_t> path;
  for (std::uint32_t call = 0; call < parent.size(); ++call) {
    path.clear();
    std::uint32_t at = call;
    while (at != no_call && depth[at] == unknown) {
      path.push_back(at);
      at = parent[at];
    }
    std::uint32_t level = at == no_call ? 0 : depth[at] + 1;
    for (auto step = path.rbegin(); step != path.rend(); ++step) {
      depth[*step] = level++;
    }
  }
  return depth;
}

// In an ordered table: which calls lie in another activation of their function. What is outermost
// does not overlap, even where several stacks of a thread take turns.
void mark_inner(CallTable& table) {
  const auto end = [&](std::uint32_t call) { return table.start[call] + table.latency[call]; };
  std::vector<std::uint32_t> outermost; // the latest, by function
  for (std::uint32_t call = 0; call < table.size(); ++call) {
    const std::uint32_t function = table.function[call];
    if (function >= outermost.size()) {
      outermost.resize(std::size_t{function} + 1, no_call);
    }
    std::uint32_t& outer = outermost[function];
    const bool same_thread = outer != no_call && table.thread[outer] == table.thread[call];
    bool inner = same_thread && table.start[call] < end(outer);
    if (same_thread && table.start[call] == end(outer)) { // no time passes: they may be siblings
      std::uint32_t above = table.parent[call];
      while (above != no_call && above != outer && end(above) == end(outer)) {
        above = table.parent[above];
      }
      inner = above == outer;
    }
    table.inner[call] = inner ? 1 : 0;
    if (!inner) {
      outer = call;
    }
  }
}

// Calls of the first thread, of the second, and so on, each in the order of opening.
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
  // Among equal starts the order of opening stands, but for parents found late: they come where the
  // first of what they hold was opened, outermost first.
  std::vector<std::uint32_t> opened(count);
  std::iota(opened.begin(), opened.end(), 0U);
  bool any_late = false;
  for (std::uint32_t call = 0; call < count; ++call) {
    for (std::uint32_t above = table.parent[call]; above != no_call && opened[above] > opened[call];
         above = table.parent[above]) {
      opened[above] = opened[call];
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
  mark_inner(table);
}

} // namespace ptlens::stacks
