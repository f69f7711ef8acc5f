#include "measure/selection/conditions.hpp"

#include "measure/names/names.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/selection/caller.hpp"

#include <algorithm>

namespace ptlens::measure {

namespace {

constexpr std::uint8_t failed = UINT8_MAX;
static_assert(most_conditions < failed);

std::vector<stacks::FunctionId> named(const Measurement& measurement, const std::string& name) {
  return functions_named(measurement, parse_selector(name), {});
}

// Calls `use` with each block of the edges and the thread that is not damaged.
template <class Use>
void each_block(const cache::CallCache& cache, std::span<const cache::EdgeId> edges,
                std::uint32_t thread, const Use& use) {
  for (const cache::EdgeId edge : edges) {
    for (const cache::BlockEntry& entry :
         std::ranges::equal_range(cache.blocks(edge), thread, {}, &cache::BlockEntry::thread)) {
      if (const auto block = cache.block(entry)) {
        use(entry, *block);
      }
    }
  }
}

std::vector<cache::EdgeId> edges_to_ancestors(const Measurement& measurement,
                                              std::span<const stacks::FunctionId> functions,
                                              const Selection& selection) {
  CallsNeeded needed(measurement);
  for (const stacks::FunctionId function : functions) {
    needed.add_calls_of(function);
  }
  for (const AncestorCondition& ancestor : selection.ancestors) {
    needed.add_paths_to(named(measurement, ancestor.function), functions);
  }
  return needed.edges();
}

} // namespace

CallerCheck::CallerCheck(const Measurement& measurement, const Selection& selection)
    : measurement_(measurement) {
  for (const CallerCondition& condition : selection.callers) {
    callers_.push_back(
        {.condition = &condition, .functions = named(measurement, condition.function)});
    any_positive_ = any_positive_ || !condition.negated;
  }
}

bool CallerCheck::is_made_by(const Caller& caller, const cache::Edge& edge) const {
  const CallerCondition& condition = *caller.condition;
  if (!std::ranges::binary_search(caller.functions,
                                  caller_of(measurement_, edge.site, edge.caller))) {
    return false;
  }
  if (condition.file.empty()) {
    return true;
  }
  if (!measurement_.sites.has(edge.site)) {
    return false;
  }
  const stacks::CallSite& site = measurement_.sites[edge.site];
  return (condition.line == 0 || condition.line == site.line) &&
         shared_path_end(site.file, condition.file) > 0;
}

bool CallerCheck::accepts(const cache::Edge& edge) const {
  bool found = !any_positive_;
  for (const Caller& caller : callers_) {
    if (is_made_by(caller, edge)) {
      if (caller.condition->negated) {
        return false;
      }
      found = true;
    }
  }
  return found;
}

AncestorCheck::AncestorCheck(const Measurement& measurement,
                             std::span<const stacks::FunctionId> functions,
                             const Selection& selection)
    : cache_(*measurement.cache), edges_(edges_to_ancestors(measurement, functions, selection)),
      ancestry_(cache_, edges_) {
  static_assert(most_ancestors <= marks_at_once);
  for (const AncestorCondition& condition : selection.ancestors) {
    Ancestor& ancestor = ancestors_.emplace_back();
    ancestor.mark = static_cast<Marks>(1U << (ancestors_.size() - 1));
    ancestor.latency = condition.latency;
    all_ = static_cast<Marks>(all_ | ancestor.mark);
    const std::vector<stacks::FunctionId> functions_of = named(measurement, condition.function);
    for (const cache::EdgeId edge : edges_) {
      if (std::ranges::binary_search(functions_of, cache_.edge(edge).function)) {
        ancestor.edges.push_back(edge);
      }
    }
  }
}

void AncestorCheck::enter(std::uint32_t thread) {
  ancestry_.enter(thread);
  std::vector<std::uint32_t> orders;
  std::vector<std::uint64_t> latencies;
  for (const Ancestor& ancestor : ancestors_) {
    each_block(cache_, ancestor.edges, thread,
               [&](const cache::BlockEntry& entry, const cache::Block& block) {
                 block.read_orders(entry, sized_for(entry, orders));
                 block.latency.read(sized_for(entry, latencies));
                 for (std::size_t call = 0; call < orders.size(); ++call) {
                   if (ancestor.latency.contains(latencies[call])) {
                     ancestry_.mark(stacks::CallId{orders[call]}, ancestor.mark);
                   }
                 }
               });
  }
  ancestry_.propagate();
}

CallCounts::CallCounts(const Measurement& measurement,
                       std::span<const stacks::FunctionId> functions, const Selection& selection)
    : cache_(*measurement.cache) {
  for (const CallsCondition& condition : selection.calls) {
    Called& called = called_.emplace_back();
    called.count = condition.count;
    required_ = static_cast<std::uint8_t>(required_ + (condition.count.low > 0 ? 1 : 0));
    const std::vector<stacks::FunctionId> functions_of = named(measurement, condition.function);
    for (const stacks::FunctionId function : functions) {
      for (const cache::EdgeId edge : cache_.edges_from(function)) {
        if (std::ranges::binary_search(functions_of, cache_.edge(edge).function)) {
          called.edges.push_back(edge);
        }
      }
    }
  }
}

void CallCounts::enter(std::uint32_t thread) {
  fulfilled_.assign(cache_.calls_by_thread()[thread], 0);
  for (const Called& called : called_) {
    count(called, thread);
  }
}

void CallCounts::count(const Called& called, std::uint32_t thread) {
  counts_.assign(fulfilled_.size(), 0);
  std::vector<std::uint32_t> orders;
  std::vector<std::uint32_t> distances;
  each_block(cache_, called.edges, thread,
             [&](const cache::BlockEntry& entry, const cache::Block& block) {
               block.read_orders(entry, sized_for(entry, orders));
               block.distance.read(sized_for(entry, distances));
               for (std::size_t call = 0; call < orders.size(); ++call) {
                 const std::uint32_t parent = orders[call] - distances[call];
                 if (distances[call] != 0 && parent < counts_.size()) {
                   ++counts_[parent];
                 }
               }
             });
  for (std::size_t order = 0; order < counts_.size(); ++order) {
    if (counts_[order] == 0 || fulfilled_[order] == failed) {
      continue; // what it fulfils without such calls is not required
    }
    if (!called.count.contains(counts_[order])) {
      fulfilled_[order] = failed;
    } else if (called.count.low > 0) {
      ++fulfilled_[order];
    }
  }
}

} // namespace ptlens::measure
