// Each bound is one comparison per call. Whether a call is below the ancestor is computed from the
// links between calls and their parents.
#include "measure/selection/select_calls.hpp"

#include "measure/names/names.hpp"
#include "measure/selection/ancestry.hpp"

#include <algorithm>
#include <optional>

namespace ptlens::measure {

namespace {

// Decodes columns of blocks into buffers that it reuses.
class BlockColumns {
public:
  explicit BlockColumns(const cache::CallCache& cache) : cache_(cache) {}

  // Returns false where the block is damaged.
  [[nodiscard]] bool read(const cache::BlockEntry& entry) {
    block_ = cache_.block(entry);
    if (block_) {
      orders_.resize(entry.calls);
      block_->read_orders(entry, orders_);
    }
    return block_.has_value();
  }
  [[nodiscard]] stacks::CallId order(std::size_t call) const {
    return stacks::CallId{orders_[call]};
  }
  [[nodiscard]] const cache::Block& block() const { return *block_; }
  [[nodiscard]] std::span<const std::uint64_t> starts(const cache::BlockEntry& entry) {
    starts_.resize(entry.calls);
    block_->read_starts(entry, starts_);
    return starts_;
  }
  [[nodiscard]] stacks::CallId parent(std::size_t call) const {
    const auto distance = static_cast<std::uint32_t>(block_->distance[call]);
    return distance == 0 ? stacks::CallId::none : stacks::CallId{orders_[call] - distance};
  }

private:
  const cache::CallCache& cache_;
  std::optional<cache::Block> block_;
  std::vector<std::uint32_t> orders_;
  std::vector<std::uint64_t> starts_;
};

class Selector {
public:
  Selector(const Measurement& measurement, std::span<const stacks::FunctionId> functions,
           const Selection& selection)
      : measurement_(measurement), cache_(*measurement.cache), selection_(selection),
        columns_(cache_), origin_(selection.time ? trace_start(measurement) : 0) {
    for (const stacks::FunctionId function : functions) {
      for (const cache::EdgeId edge : cache_.edges_to(function)) {
        edges_.push_back(edge);
      }
    }
    if (!selection.ancestor.empty()) {
      CallsNeeded needed(measurement);
      for (const stacks::FunctionId function : functions) {
        needed.add_calls_of(function);
        needed.add_path_to_ancestor(function, selection);
      }
      ancestry_edges_ = needed.edges();
      ancestry_.emplace(cache_, ancestry_edges_);
      named_ = functions_named(measurement, parse_selector(selection.ancestor), {});
    }
  }

  [[nodiscard]] cache::OrderSet select() {
    cache::OrderSet selected(cache_.calls_by_thread());
    for (std::uint32_t thread = 0; thread < cache_.thread_count(); ++thread) {
      if (selection_.tid && measurement_.threads[thread].tid != *selection_.tid) {
        continue;
      }
      if (ancestry_) {
        ancestry_->enter(thread);
        mark_ancestors(thread);
        ancestry_->propagate();
      }
      for (const cache::EdgeId edge : edges_) {
        for (const cache::BlockEntry& entry : cache_.blocks(edge)) {
          if (entry.thread == thread && columns_.read(entry)) {
            select(entry, selected);
          }
        }
      }
    }
    return selected;
  }

private:
  void mark_ancestors(std::uint32_t thread) {
    for (const cache::EdgeId edge : ancestry_edges_) {
      if (!std::ranges::binary_search(named_, cache_.edge(edge).function)) {
        continue;
      }
      for (const cache::BlockEntry& entry : cache_.blocks(edge)) {
        if (entry.thread != thread || !columns_.read(entry)) {
          continue;
        }
        for (std::size_t call = 0; call < entry.calls; ++call) {
          if (selection_.ancestor_latency.contains(columns_.block().latency[call])) {
            ancestry_->mark(columns_.order(call), 1);
          }
        }
      }
    }
  }

  // Adds the accepted calls of the block that was read.
  void select(const cache::BlockEntry& entry, cache::OrderSet& selected) {
    const auto starts = selection_.time ? columns_.starts(entry) : std::span<const std::uint64_t>();
    for (std::size_t call = 0; call < entry.calls; ++call) {
      const bool accepted =
          (!selection_.latency || selection_.latency->contains(columns_.block().latency[call])) &&
          (!selection_.time ||
           selection_.time->contains(starts[call] > origin_ ? starts[call] - origin_ : 0)) &&
          (!ancestry_ || ancestry_->of(columns_.parent(call)) != 0);
      if (accepted) {
        selected.add(entry.thread, columns_.order(call));
      }
    }
  }

  const Measurement& measurement_;
  const cache::CallCache& cache_;
  const Selection& selection_;
  BlockColumns columns_;
  std::uint64_t origin_; // ns
  std::vector<cache::EdgeId> edges_;
  std::vector<cache::EdgeId> ancestry_edges_;
  std::optional<Ancestry> ancestry_;
  std::vector<stacks::FunctionId> named_; // functions with the ancestor's name, ascending
};

} // namespace

cache::OrderSet select_calls(const Measurement& measurement,
                             std::span<const stacks::FunctionId> functions,
                             const Selection& selection) {
  return Selector(measurement, functions, selection).select();
}

SelectedCalls read_selected(const Measurement& measurement, stacks::FunctionId function,
                            const Selection& selection) {
  CallsNeeded needed(measurement);
  needed.add_calls_of(function);
  SelectedCalls selected{.subset = needed.read(), .calls = {}};
  const stacks::CallTable& rows = selected.subset.calls();
  const bool all = selection.accepts_all();
  const cache::OrderSet accepted = select_calls(
      measurement, all ? std::span<const stacks::FunctionId>() : std::span(&function, 1),
      selection);
  for (std::uint32_t call = 0; call < rows.size(); ++call) {
    if (all || accepted.has(rows.thread[call], selected.subset.order(call))) {
      selected.calls.push_back(call);
    }
  }
  return selected;
}

} // namespace ptlens::measure
