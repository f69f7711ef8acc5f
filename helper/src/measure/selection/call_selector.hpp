// Decides block by block which calls a selection accepts. Conditions on an edge or a thread decide
// about whole blocks; the others are one comparison per call. Only conditions that need other
// calls make a pass per thread of their own.
#pragma once

#include "base/parallel.hpp"
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
  struct Source {
    cache::EdgeId edge{};
    const cache::BlockEntry* entry = nullptr;
  };
  const cache::CallCache& cache = *measurement.cache;
  std::vector<Source> sources;
  for (const stacks::FunctionId function : functions) {
    for (const cache::EdgeId edge : cache.edges_to(function)) {
      for (const cache::BlockEntry& entry : cache.blocks(edge)) {
        sources.push_back({.edge = edge, .entry = &entry});
      }
    }
  }
  const CallSelector model(measurement, functions, selection);
  const auto run = [&](std::size_t number, std::span<const Source> some) {
    CallSelector selector = model;
    std::optional<std::uint32_t> thread;
    for (const Source& source : some) {
      if (selector.needs_threads() && thread != source.entry->thread) {
        thread = source.entry->thread;
        selector.enter(*thread);
      }
      if (const auto block = cache.block(*source.entry)) {
        use(parts[number], source.edge, *source.entry, *block,
            selector.judge(source.edge, *source.entry, *block));
      }
    }
  };
  if (model.needs_threads()) {
    std::ranges::stable_sort(sources, {}, [](const Source& each) { return each.entry->thread; });
    run(0, sources);
    return;
  }
  do_parts(parts.size(), [&](std::size_t number) {
    const std::size_t begin = number * sources.size() / parts.size();
    const std::size_t end = (number + 1) * sources.size() / parts.size();
    run(number, std::span(sources).subspan(begin, end - begin));
  });
}

} // namespace ptlens::measure
