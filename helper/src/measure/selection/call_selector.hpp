// Decides block by block which calls a selection accepts. Conditions on an edge or a thread decide
// about whole blocks; the others are one comparison per call. Only conditions that need other
// calls make a pass per thread of their own.
#pragma once

#include "base/parallel.hpp"
#include "cache/reading/edge_blocks.hpp"
#include "measure/measurement.hpp"
#include "measure/selection/conditions.hpp"
#include "measure/selection/reason_times.hpp"
#include "measure/selection/selection.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace ptlens::measure {

class CallSelector {
public:
  // `functions`: whose calls will be judged. All arguments must outlive the object.
  CallSelector(const Measurement& measurement, std::span<const stacks::FunctionId> functions,
               const Selection& selection);

  // Returns whether enter() must be called for each thread.
  [[nodiscard]] bool needs_threads() const { return ancestors_ || counts_; }
  // Prepares for the blocks of that thread.
  void enter(std::uint32_t thread);
  // Returns for each call of the block whether the selection accepts it, 1 or 0, whatever its
  // state. The result is valid until the next call.
  [[nodiscard]] std::span<const std::uint8_t>
  judge(cache::EdgeId edge, const cache::BlockEntry& entry, const cache::Block& block);

private:
  void judge_figures(const cache::BlockEntry& entry, const cache::Block& block);
  void judge_relatives(const cache::BlockEntry& entry, const cache::Block& block);

  const Measurement& measurement_;
  const Selection& selection_;
  std::uint64_t origin_; // ns
  CallerCheck callers_;
  std::optional<AncestorCheck> ancestors_;
  std::optional<CallCounts> counts_;
  std::shared_ptr<const ReasonTimes> reasons_; // null: not asked for
  // Of the block:
  std::vector<std::uint8_t> accepted_;
  std::vector<std::uint32_t> orders_;
  std::vector<std::uint32_t> distances_;
  std::vector<std::uint64_t> values_;
};

// Calls `use(part, edge, entry, block, accepted)` for each block of the functions' calls that is
// not damaged, with the judgement of the selection. `parts`: one or more; each is used by one
// thread at a time.
template <class Part, class Use>
void each_judged_block(const Measurement& measurement,
                       std::span<const stacks::FunctionId> functions, const Selection& selection,
                       std::vector<Part>& parts, const Use& use) {
  const cache::CallCache& cache = *measurement.cache;
  std::vector<cache::EdgeBlock> blocks = cache::blocks_to(cache, functions);
  const CallSelector model(measurement, functions, selection);
  const auto run = [&](Part& part, std::span<const cache::EdgeBlock> some) {
    CallSelector selector = model;
    std::optional<std::uint32_t> thread;
    for (const auto& [edge, entry] : some) {
      if (selector.needs_threads() && thread != entry->thread) {
        thread = entry->thread;
        selector.enter(*thread);
      }
      if (const auto block = cache.block(*entry)) {
        use(part, edge, *entry, *block, selector.judge(edge, *entry, *block));
      }
    }
  };
  if (model.needs_threads()) {
    std::ranges::stable_sort(blocks, {},
                             [](const cache::EdgeBlock& each) { return each.entry->thread; });
    run(parts.front(), blocks);
  } else {
    do_slices(std::span<const cache::EdgeBlock>(blocks), parts, run);
  }
}

} // namespace ptlens::measure
