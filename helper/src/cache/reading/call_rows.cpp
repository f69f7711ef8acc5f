// The row of a call is the rank of its number of opening among the calls of its thread that are
// read, so that rows are only sorted where a caller was found late.
#include "cache/reading/call_rows.hpp"

#include "base/cancellation.hpp"
#include "cache/reading/call_columns.hpp"
#include "cache/reading/order_index.hpp"
#include "stacks/calls/call_table.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace ptlens::cache {
namespace {

using stacks::CallId;
using stacks::CallIndex;
using stacks::CallTable;

struct Source {
  const BlockEntry* entry = nullptr;
  Edge edge;
  Block block;
  const std::vector<std::uint32_t>* chosen = nullptr; // null: all calls

  [[nodiscard]] std::size_t size() const {
    return chosen == nullptr ? entry->calls : chosen->size();
  }
  // Returns the index in the block of one of its calls.
  [[nodiscard]] std::size_t call(std::size_t at) const {
    return chosen == nullptr ? at : (*chosen)[at];
  }
};

// Copies the values of a call of the source, other than its order, start and parent. `extra`: the
// number of calls before it that have extra columns.
void put_row(CallRows& into, std::size_t row, const Source& source, const CallColumns& values,
             std::size_t call, std::uint32_t extra) {
  const Block& block = source.block;
  CallTable& calls = into.calls;
  const std::uint8_t flags = values.flags[call];
  calls.thread[row] = source.entry->thread;
  calls.function[row] = source.edge.function;
  calls.site[row] = source.edge.site;
  into.caller[row] = source.edge.caller;
  calls.latency[row] = values.latencies[call];
  calls.children[row] = values.children[call];
  calls.uncertainty[row] = values.uncertainties[call];
  calls.state[row] = state_of(flags);
  calls.tail_call[row] = (flags & tail_call_bit) != 0 ? 1 : 0;
  calls.inner[row] = (flags & inner_bit) != 0 ? 1 : 0;
  calls.end_unknown[row] = (flags & end_unknown_bit) != 0 ? 1 : 0;
  if ((flags & extra_bit) != 0 && extra < source.entry->extras) {
    calls.outside[row] = block.outside[extra];
    calls.blocked[row] = block.blocked[extra];
    calls.preempted[row] = block.preempted[extra];
    calls.removed[row] = block.removed[extra];
    calls.switches[row] = static_cast<std::uint32_t>(block.switches[extra]);
  }
}

void resize(CallRows& rows, std::size_t size) {
  stacks::each_column(rows.calls, [size](auto& column) { column.resize(size); });
  rows.caller.resize(size);
  rows.order.resize(size);
}

class ThreadReader {
public:
  ThreadReader(CallRows& into, std::vector<Source> sources)
      : into_(&into), sources_(std::move(sources)) {}

  // Returns false where two calls have the same number of opening.
  bool run() {
    std::size_t count = 0;
    for (const Source& source : sources_) {
      count += source.size();
    }
    orders_.reserve(count);
    for (const Source& source : sources_) {
      source.block.read_orders(*source.entry, sized_for(*source.entry, values_.orders));
      for (std::size_t at = 0; at < source.size(); ++at) {
        orders_.push_back(values_.orders[source.call(at)]);
      }
    }
    const OrderIndex index(orders_);
    if (index.size() != count) {
      return false;
    }
    CallTable& calls = into_->calls;
    base_ = calls.size();
    resize(*into_, base_ + count);
    for (const Source& source : sources_) {
      if (cancel_asked()) {
        return true;
      }
      place(source, index);
    }
    if (!std::ranges::is_sorted(calls.start.begin() + static_cast<std::ptrdiff_t>(base_),
                                calls.start.end()) ||
        !before_.empty()) {
      sort();
    }
    // Parents come first even in a damaged file, so that no chain of parents is endless.
    for (std::size_t call = base_; call < calls.size(); ++call) {
      if (calls.parent[call] != CallIndex::none && index_of(calls.parent[call]) >= call) {
        calls.parent[call] = CallIndex::none;
      }
    }
    return true;
  }

private:
  void place(const Source& source, const OrderIndex& index) {
    const BlockEntry& entry = *source.entry;
    const Block& block = source.block;
    CallTable& calls = into_->calls;
    values_.read_all(entry, block);
    std::uint32_t extra = 0;
    std::size_t passed = 0;
    for (std::size_t at = 0; at < source.size(); ++at) {
      const std::size_t i = source.call(at);
      for (; passed < i; ++passed) {
        extra += (values_.flags[passed] & extra_bit) != 0 ? 1 : 0;
      }
      const std::uint32_t order = values_.orders[i];
      const std::size_t call = base_ + index.rank(order);
      put_row(*into_, call, source, values_, i, extra);
      into_->order[call] = CallId{order};
      calls.start[call] = values_.starts[i];
      const std::uint32_t distance = values_.distances[i];
      const std::uint32_t parent = distance == 0 ? OrderIndex::none : index.rank(order - distance);
      calls.parent[call] = parent == OrderIndex::none
                               ? CallIndex::none
                               : CallIndex{static_cast<std::uint32_t>(base_ + parent)};
      if ((values_.flags[i] & extra_bit) != 0 && extra < entry.extras) {
        if (const auto before = static_cast<std::uint32_t>(block.before[extra]); before != 0) {
          before_[order] = before;
        }
      }
    }
  }

  // Moves callers that were found late before the first call in them, outermost first.
  void sort() {
    CallTable& calls = into_->calls;
    const auto order_of = std::span(into_->order).subspan(base_);
    std::vector<std::uint32_t> places(orders_.size());
    std::iota(places.begin(), places.end(), 0U);
    std::ranges::sort(places, {}, [&](std::uint32_t place) {
      const std::uint32_t order = index_of(order_of[place]);
      const auto at = before_.find(order);
      const std::uint32_t before = at == before_.end() ? 0 : at->second;
      return place_in_thread(calls.start[base_ + place], order, before);
    });
    std::vector<std::uint32_t> moved(places.size());
    for (std::uint32_t to = 0; to < places.size(); ++to) {
      moved[places[to]] = to;
    }
    const auto permute = [&](auto& column) {
      const std::vector copy(column.begin() + static_cast<std::ptrdiff_t>(base_), column.end());
      for (std::size_t to = 0; to < places.size(); ++to) {
        column[base_ + to] = copy[places[to]];
      }
    };
    stacks::each_column(calls, permute);
    permute(into_->caller);
    permute(into_->order);
    for (std::size_t call = base_; call < calls.size(); ++call) {
      if (CallIndex& parent = calls.parent[call]; parent != CallIndex::none) {
        parent = CallIndex{static_cast<std::uint32_t>(base_ + moved[index_of(parent) - base_])};
      }
    }
  }

  CallRows* into_;
  std::vector<Source> sources_;
  std::size_t base_ = 0;
  std::vector<std::uint32_t> orders_;
  CallColumns values_;
  std::map<std::uint32_t, std::uint32_t> before_; // by order, of callers found late
};

// `threads`: the blocks of each.
CallRows read_threads(const CallCache& cache, std::vector<std::vector<Source>> threads) {
  CallRows rows;
  for (std::vector<Source>& sources : threads) {
    if (!sources.empty() && !ThreadReader(rows, std::move(sources)).run()) {
      cache.note_damage();
    }
  }
  return rows;
}

} // namespace

CallRows read_calls(const CallCache& cache, std::span<const EdgeId> edges) {
  std::vector<std::vector<Source>> threads(cache.thread_count());
  for (const EdgeId edge : edges) {
    const Edge& between = cache.edge(edge);
    for (const BlockEntry& block : cache.blocks(edge)) {
      if (const auto parsed = cache.block(block)) {
        threads[block.thread].push_back({.entry = &block, .edge = between, .block = *parsed});
      }
    }
  }
  return read_threads(cache, std::move(threads));
}

CallRows read_calls(const CallCache& cache, std::span<const ChosenCalls> chosen) {
  std::vector<std::vector<Source>> threads(cache.thread_count());
  for (const ChosenCalls& each : chosen) {
    if (const auto parsed = cache.block(*each.entry)) {
      threads[each.entry->thread].push_back({.entry = each.entry,
                                             .edge = cache.edge(each.edge),
                                             .block = *parsed,
                                             .chosen = &each.calls});
    }
  }
  return read_threads(cache, std::move(threads));
}

CallRows read_calls(const CallCache& cache, std::span<const CallRef> calls) {
  CallRows rows;
  resize(rows, calls.size());
  std::ranges::fill(rows.calls.parent, CallIndex::none);
  std::vector<std::uint32_t> by_block(calls.size());
  std::iota(by_block.begin(), by_block.end(), 0U);
  std::ranges::sort(by_block, {}, [calls](std::uint32_t row) {
    return std::pair(calls[row].block, calls[row].at);
  });
  CallColumns values;
  std::optional<Source> source;
  std::uint32_t at = 0; // in the block
  std::uint32_t extra = 0;
  for (const std::uint32_t row : by_block) {
    const CallRef& call = calls[row];
    if (!source || source->entry != call.block) {
      source.reset();
      if (const auto parsed = cache.block(*call.block)) {
        source = {.entry = call.block, .edge = cache.edge(call.edge), .block = *parsed};
        values.read_all(*call.block, *parsed);
        at = 0;
        extra = 0;
      }
    }
    if (!source) {
      continue; // damaged or cancelled
    }
    for (; at < call.at; ++at) {
      extra += (values.flags[at] & extra_bit) != 0 ? 1 : 0;
    }
    put_row(rows, row, *source, values, call.at, extra);
    rows.order[row] = CallId{values.orders[call.at]};
    rows.calls.start[row] = values.starts[call.at];
  }
  return rows;
}

CallRows read_all_calls(const CallCache& cache) {
  const IdRange<EdgeId> all = cache.edges();
  const std::vector<EdgeId> edges(all.begin(), all.end());
  return read_calls(cache, edges);
}

} // namespace ptlens::cache
