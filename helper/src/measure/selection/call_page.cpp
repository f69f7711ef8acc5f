#include "measure/selection/call_page.hpp"

#include "base/parallel.hpp"
#include "cache/reading/call_rows.hpp"
#include "measure/selection/call_selector.hpp"
#include "measure/selection/first_calls.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace ptlens::measure {

namespace {

struct PagePart {
  explicit PagePart(std::size_t wanted) : first(wanted) {}

  std::uint64_t total = 0;
  FirstCalls first;
  std::vector<std::uint8_t> flags = {};
  std::vector<std::uint64_t> keys;
  std::vector<std::uint64_t> starts;
  std::vector<std::uint32_t> orders;
};

// Reads what the calls of the block are ordered by, the least first.
void read_keys(const cache::BlockEntry& entry, const cache::Block& block,
               const PageRequest& request, std::vector<std::uint64_t>& keys) {
  keys.resize(entry.calls);
  std::vector<std::uint64_t> other(entry.calls);
  switch (request.order) {
  case CallOrder::start:
    block.read_starts(entry, keys);
    break;
  case CallOrder::latency:
    block.latency.read(std::span(keys));
    break;
  case CallOrder::self:
    block.latency.read(std::span(keys));
    block.read_children(keys, other);
    for (std::size_t call = 0; call < keys.size(); ++call) {
      keys[call] -= std::min(keys[call], other[call]);
    }
    break;
  case CallOrder::off_cpu:
    read_blocked(block, entry, keys);
    read_preempted(block, entry, other);
    for (std::size_t call = 0; call < keys.size(); ++call) {
      keys[call] += other[call];
    }
    break;
  }
  if (request.descending) {
    for (std::uint64_t& key : keys) {
      key = ~key;
    }
  }
}

} // namespace

CallPage read_page(const Measurement& measurement, std::span<const stacks::FunctionId> functions,
                   const Selection& selection, const PageRequest& request) {
  const cache::CallCache& cache = *measurement.cache;
  const stacks::CallStates states = selection.states_or(stacks::CallStates::all());
  const std::uint64_t offset = std::min(request.offset, cache.calls());
  const std::uint64_t wanted = offset + std::min(request.limit, cache.calls() - offset);
  constexpr std::size_t calls_per_part = 500'000;
  std::vector<PagePart> parts(parts_of(cache.calls(), calls_per_part), PagePart(wanted));
  each_judged_block(measurement, functions, selection, parts,
                    [&](PagePart& part, cache::EdgeId edge, const cache::BlockEntry& entry,
                        const cache::Block& block, std::span<const std::uint8_t> accepted) {
                      read_keys(entry, block, request, part.keys);
                      block.flags.read(sized_for(entry, part.flags));
                      bool read = false;
                      for (std::uint32_t call = 0; call < entry.calls; ++call) {
                        if (accepted[call] == 0 || !states.has(cache::state_of(part.flags[call]))) {
                          continue;
                        }
                        ++part.total;
                        if (!part.first.may_take(part.keys[call])) {
                          continue;
                        }
                        if (!std::exchange(read, true)) {
                          block.read_starts(entry, sized_for(entry, part.starts));
                          block.read_orders(entry, sized_for(entry, part.orders));
                        }
                        part.first.take({.key = part.keys[call],
                                         .start = part.starts[call],
                                         .thread = entry.thread,
                                         .order = part.orders[call],
                                         .call = {.block = &entry, .edge = edge, .at = call}});
                      }
                    });
  std::uint64_t total = 0;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    total += parts[part].total;
    if (part > 0) {
      parts.front().first.take(parts[part].first);
    }
  }
  std::vector<cache::CallRef> calls;
  const std::vector<RankedCall> first = parts.front().first.finish();
  for (std::size_t call = offset; call < first.size(); ++call) {
    calls.push_back(first[call].call);
  }
  return {.total = total, .calls = CallSubset(cache::read_calls(cache, calls))};
}

} // namespace ptlens::measure
