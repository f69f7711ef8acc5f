// Each bound is one comparison a call; the ancestor is handed down from parents to children.
#include "measure/selection/select_orders.hpp"

#include "measure/names/names.hpp"
#include "measure/selection/ancestry.hpp"
#include "measure/selection/call_subset.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace ptlens::measure {

namespace {

// Decodes columns of blocks into buffers that are used again.
class Reader {
public:
  explicit Reader(const cache::CallCache& store) : store_(store) {}

  [[nodiscard]] bool read(const cache::BlockEntry& entry) {
    block_ = store_.block(entry);
    if (block_) {
      orders_.resize(entry.calls);
      block_->read_orders(entry, orders_);
    }
    return block_.has_value();
  }
  [[nodiscard]] std::span<const std::uint32_t> orders() const { return orders_; }
  [[nodiscard]] const cache::Block& block() const { return *block_; }
  [[nodiscard]] std::span<const std::uint64_t> starts(const cache::BlockEntry& entry) {
    starts_.resize(entry.calls);
    block_->read_starts(entry, starts_);
    return starts_;
  }
  [[nodiscard]] std::uint32_t parent(std::size_t call) const {
    const auto away = static_cast<std::uint32_t>(block_->distance[call]);
    return away == 0 ? stacks::no_call : orders_[call] - away;
  }

private:
  const cache::CallCache& store_;
  std::optional<cache::Block> block_;
  std::vector<std::uint32_t> orders_;
  std::vector<std::uint64_t> starts_;
};

// Marks the ancestors that are asked for.
void mark_ancestors(const Measurement& measurement, const Selection& selection,
                    const std::vector<std::uint32_t>& named,
                    const std::vector<std::uint32_t>& edges, std::uint32_t thread,
                    Ancestry& ancestry) {
  const cache::CallCache& store = *measurement.store;
  Reader reader(store);
  for (const std::uint32_t edge : edges) {
    if (!std::ranges::binary_search(named, store.edge(edge).function)) {
      continue;
    }
    for (const cache::BlockEntry& entry : store.blocks(edge)) {
      if (entry.thread != thread || !reader.read(entry)) {
        continue;
      }
      for (std::size_t call = 0; call < entry.calls; ++call) {
        if (selection.ancestor_latency.contains(reader.block().latency[call])) {
          ancestry.mark(reader.orders()[call], 1);
        }
      }
    }
  }
}

} // namespace

cache::OrderSet select_orders(const Measurement& measurement, std::uint32_t function,
                              const Selection& selection) {
  const cache::CallCache& store = *measurement.store;
  cache::OrderSet selected(store.calls_by_thread());
  CallsNeeded needs(measurement);
  needs.calls_of(function);
  needs.way_up(function, selection);
  const std::vector<std::uint32_t> edges = needs.edges();
  std::optional<Ancestry> ancestry;
  std::vector<std::uint32_t> named;
  if (!selection.ancestor.empty()) {
    ancestry.emplace(store, edges);
    named = functions_named(measurement, parse_selector(selection.ancestor), {});
  }
  const std::uint64_t origin = selection.time ? trace_start(measurement) : 0;
  const auto [first, last] = store.edges_to(function);
  Reader reader(store);
  for (std::uint32_t thread = 0; thread < store.thread_count(); ++thread) {
    if (selection.tid && measurement.threads[thread].tid != *selection.tid) {
      continue;
    }
    if (ancestry) {
      ancestry->enter(thread);
      mark_ancestors(measurement, selection, named, edges, thread, *ancestry);
      ancestry->settle();
    }
    for (std::uint32_t edge = first; edge < last; ++edge) {
      for (const cache::BlockEntry& entry : store.blocks(edge)) {
        if (entry.thread != thread || !reader.read(entry)) {
          continue;
        }
        const auto starts =
            selection.time ? reader.starts(entry) : std::span<const std::uint64_t>();
        for (std::size_t call = 0; call < entry.calls; ++call) {
          const bool admitted =
              (!selection.latency || selection.latency->contains(reader.block().latency[call])) &&
              (!selection.time ||
               selection.time->contains(starts[call] > origin ? starts[call] - origin : 0)) &&
              (!ancestry || ancestry->of(reader.parent(call)) != 0);
          if (admitted) {
            selected.add(thread, reader.orders()[call]);
          }
        }
      }
    }
  }
  return selected;
}

} // namespace ptlens::measure
