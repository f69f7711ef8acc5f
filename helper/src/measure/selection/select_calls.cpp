#include "measure/selection/select_calls.hpp"

#include "measure/selection/call_selector.hpp"

#include <algorithm>
#include <utility>

namespace ptlens::measure {

cache::OrderSet select_calls(const Measurement& measurement,
                             std::span<const stacks::FunctionId> functions,
                             const Selection& selection, stacks::CallStates states) {
  struct Part {
    cache::OrderSet selected;
    std::vector<std::uint32_t> orders = {};
    std::vector<std::uint8_t> flags = {};
  };
  constexpr std::size_t calls_per_part = 500'000;
  const cache::CallCache& cache = *measurement.cache;
  std::vector<Part> parts(parts_of(cache.calls(), calls_per_part),
                          Part{.selected = cache::OrderSet(cache.calls_by_thread())});
  const bool any_state = states == stacks::CallStates::all();
  each_judged_block(measurement, functions, selection, parts,
                    [&](Part& part, cache::EdgeId /*edge*/, const cache::BlockEntry& entry,
                        const cache::Block& block, std::span<const std::uint8_t> accepted) {
                      if (std::ranges::find(accepted, 1) == accepted.end()) {
                        return;
                      }
                      block.read_orders(entry, sized_for(entry, part.orders));
                      block.flags.read(sized_for(entry, part.flags));
                      for (std::size_t call = 0; call < accepted.size(); ++call) {
                        if (accepted[call] != 0 &&
                            (any_state || states.has(cache::state_of(part.flags[call])))) {
                          part.selected.add(entry.thread, stacks::CallId{part.orders[call]});
                        }
                      }
                    });
  for (std::size_t part = 1; part < parts.size(); ++part) {
    parts.front().selected.add(parts[part].selected);
  }
  return std::move(parts.front().selected);
}

SelectedCalls read_selected(const Measurement& measurement, stacks::FunctionId function,
                            const Selection& selection) {
  CallsNeeded needed(measurement);
  needed.add_calls_of(function);
  SelectedCalls selected{.subset = needed.read(), .calls = {}};
  const stacks::CallTable& rows = selected.subset.calls();
  const stacks::CallStates states = selection.states_or(stacks::CallStates::all());
  const bool all = selection.accepts_all() && states == stacks::CallStates::all();
  const cache::OrderSet accepted = select_calls(
      measurement, all ? std::span<const stacks::FunctionId>() : std::span(&function, 1), selection,
      states);
  for (std::uint32_t call = 0; call < rows.size(); ++call) {
    if (all || accepted.has(rows.thread[call], selected.subset.order(call))) {
      selected.calls.push_back(call);
    }
  }
  return selected;
}

} // namespace ptlens::measure
