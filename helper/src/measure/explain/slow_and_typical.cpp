// Percentiles are of the nearest rank, over all complete calls.
#include "measure/explain/slow_and_typical.hpp"

#include "measure/explain/call_scan.hpp"
#include "measure/selection/select_calls.hpp"
#include "measure/selection/selection_text.hpp"
#include "measure/statistics/counted_values.hpp"
#include "measure/statistics/value_at_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace ptlens::measure {

namespace {

constexpr double hundred = 100;

Error bad_range(std::string_view text) {
  constexpr std::size_t shown = 200;
  return Error{.kind = Error::Kind::bad_input,
               .message = fmt::format("not a range of latencies: \"{}\"", text.substr(0, shown)),
               .remedy =
                   "write p99, p40-p60, '>5ms' or 1ms,5ms; typical calls may also be: others"};
}

// Parses "p99".
std::optional<double> parse_percentile(std::string_view text) {
  if (!text.starts_with('p')) {
    return std::nullopt;
  }
  text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool parsed = error == std::errc{} && end == text.data() + text.size();
  return parsed && value >= 0 && value <= hundred ? std::optional(value) : std::nullopt;
}

// Bounds in ns, both inclusive.
struct Bounds {
  std::uint64_t low = 0;
  std::uint64_t high = UINT64_MAX;

  [[nodiscard]] bool contains(std::uint64_t value) const { return low <= value && value <= high; }
};

Bounds bounds_of(const LatencyRange& range, const RankedValues& latencies, std::size_t calls) {
  const auto percentile = [&](double percent) {
    const double rank = std::ceil(percent / hundred * static_cast<double>(calls));
    return latencies.at(static_cast<std::size_t>(std::max(rank, 1.0)) - 1);
  };
  if (range.percentiles) {
    return {.low = percentile(range.low),
            .high = std::isinf(range.high) ? UINT64_MAX : percentile(range.high)};
  }
  constexpr double most = 18e18;
  return {.low = static_cast<std::uint64_t>(std::min(range.low, most)),
          .high = range.high >= most ? UINT64_MAX : static_cast<std::uint64_t>(range.high)};
}

// Reads the calls in these states. `accepted`: of these calls; null: of all. `slow`: these are
// slow; null: none is yet.
void read_calls(const Measurement& measurement, stacks::FunctionId function,
                const cache::OrderSet* accepted, const cache::OrderSet* slow,
                stacks::CallStates states, FunctionCalls& calls) {
  const cache::CallCache& cache = *measurement.cache;
  const std::vector<cache::EdgeBlock> blocks = cache::blocks_to(cache, {&function, 1});
  struct Part {
    std::uint64_t left_out = 0;
    CountedValues uncertainties = {};
    std::vector<FunctionCalls::OffCpu> off_cpu = {};
  };
  constexpr std::size_t blocks_per_part = 64;
  std::vector<Part> parts(parts_of(blocks.size(), blocks_per_part));
  scan_blocks<ScanColumns::states>(
      cache, blocks, parts, [&](Part& part, cache::EdgeId /*edge*/, const ScannedCall& call) {
        if (accepted != nullptr && !accepted->has(call.thread, call.order)) {
          return;
        }
        if (states.has(call.state) && call.has_latency) {
          calls.index.add(call.thread, call.order);
        } else {
          ++part.left_out;
        }
      });
  const std::uint32_t size = calls.index.finish();
  calls.latency.resize(size);
  calls.start.resize(size);
  calls.thread.resize(size);
  calls.site.resize(size);
  calls.set.resize(size);
  scan_blocks<ScanColumns::all>(
      cache, blocks, parts, [&](Part& part, cache::EdgeId edge, const ScannedCall& call) {
        const std::uint32_t number = calls.index.number(call.thread, call.order);
        if (number == NumberedCalls::none) {
          return;
        }
        calls.latency[number] = call.latency;
        calls.start[number] = call.start;
        calls.thread[number] = call.thread;
        calls.site[number] = cache.edge(edge).site;
        part.uncertainties.add(call.uncertainty);
        if (slow != nullptr && slow->has(call.thread, call.order)) {
          calls.set[number] = FunctionCalls::Set::slow;
        }
        if ((call.blocked | call.preempted) != 0) {
          part.off_cpu.push_back(
              {.call = number, .blocked = call.blocked, .preempted = call.preempted});
        }
      });
  CountedValues& uncertainties = parts.front().uncertainties;
  for (Part& part : parts) {
    calls.left_out += part.left_out;
    calls.off_cpu.insert(calls.off_cpu.end(), part.off_cpu.begin(), part.off_cpu.end());
    if (&part != &parts.front()) {
      uncertainties.add(part.uncertainties);
    }
  }
  if (const std::size_t known = uncertainties.size(); known != 0) {
    constexpr double nineteen_of_twenty = 0.95;
    const double rank = std::ceil(nineteen_of_twenty * static_cast<double>(known)) - 1;
    calls.uncertainty = uncertainties.at(static_cast<std::size_t>(rank));
  }
}

void sum_up(FunctionCalls& calls) {
  const auto add = [](CallSet& set, std::uint64_t latency, double& sum) {
    set.low = set.calls == 0 ? latency : std::min(set.low, latency);
    set.high = std::max(set.high, latency);
    ++set.calls;
    sum += static_cast<double>(latency);
  };
  double slow = 0;
  double typical = 0;
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    if (calls.is_slow(call)) {
      add(calls.slow, calls.latency[call], slow);
    }
    if (calls.is_typical(call)) {
      add(calls.typical, calls.latency[call], typical);
    }
  }
  if (calls.slow.calls > 0) {
    calls.slow.mean = slow / static_cast<double>(calls.slow.calls);
  }
  if (calls.typical.calls > 0) {
    calls.typical.mean = typical / static_cast<double>(calls.typical.calls);
  }
}

} // namespace

Result<LatencyRange> parse_latency_range(std::string_view text) {
  if (text.starts_with('>')) {
    const auto bound = parse_duration(text.substr(1));
    if (!bound) {
      return std::unexpected(bad_range(text));
    }
    return LatencyRange{.low = static_cast<double>(*bound) + 1};
  }
  if (text.starts_with('p')) {
    const std::size_t dash = std::min(text.find('-'), text.size());
    const auto low = parse_percentile(text.substr(0, dash));
    const auto high = dash == text.size() ? std::optional(std::numeric_limits<double>::infinity())
                                          : parse_percentile(text.substr(dash + 1));
    if (!low || !high || *low > *high) {
      return std::unexpected(bad_range(text));
    }
    return LatencyRange{.percentiles = true, .low = *low, .high = *high};
  }
  const auto interval = parse_half_open(text);
  if (!interval) {
    return std::unexpected(bad_range(text));
  }
  return LatencyRange{.low = static_cast<double>(interval->low),
                      .high = interval->high == UINT64_MAX ? std::numeric_limits<double>::infinity()
                                                           : static_cast<double>(interval->high)};
}

Result<SetChoice> parse_sets(std::string_view slow, std::string_view typical) {
  SetChoice sets;
  sets.typical_are_others = typical == "others";
  for (const auto& [text, range] :
       {std::pair(slow, &sets.slow),
        std::pair(sets.typical_are_others ? std::string_view() : typical, &sets.typical)}) {
    if (text.empty()) {
      continue;
    }
    const auto parsed = parse_latency_range(text);
    if (!parsed) {
      return std::unexpected(parsed.error());
    }
    *range = *parsed;
  }
  return sets;
}

stacks::CallStates compared_states(const Selection& selection) {
  stacks::CallStates states = selection.states_or({stacks::CallState::complete});
  states.remove(stacks::CallState::incomplete);
  return states;
}

Result<FunctionCalls> divide_calls(const Measurement& measurement, stacks::FunctionId function,
                                   const Selection& selection, const SetChoice& choice) {
  const stacks::CallStates states = compared_states(selection);
  if (states.empty()) {
    return std::unexpected(
        Error{.kind = Error::Kind::bad_input,
              .message = "incomplete calls have no latency that could be explained",
              .file = measurement.recording.path,
              .remedy = "ask for complete calls, or for unwound ones"});
  }
  std::optional<cache::OrderSet> selected;
  if (!selection.accepts_all()) {
    selected = select_calls(measurement, {&function, 1}, selection);
  }
  const bool selection_is_slow = selected && !choice.slow;
  FunctionCalls calls(*measurement.cache);
  const cache::OrderSet* const set = selected ? &*selected : nullptr;
  read_calls(measurement, function, selection_is_slow ? nullptr : set,
             selection_is_slow ? set : nullptr, states, calls);
  const auto none = [&](std::string_view what, std::string_view remedy) {
    return std::unexpected(Error{.kind = Error::Kind::bad_input,
                                 .message = fmt::format("no {} call of {} {}", states_text(states),
                                                        measurement.functions[function].name, what),
                                 .file = measurement.recording.path,
                                 .remedy = std::string(remedy)});
  };
  if (calls.size() == 0) {
    return none("was recorded in this selection",
                "measure for a longer time, or widen the selection");
  }
  const RankedValues latencies(calls.latency);
  constexpr LatencyRange slowest{.percentiles = true, .low = 99};
  constexpr LatencyRange middle{.percentiles = true, .low = 40, .high = 60};
  const Bounds slow = selection_is_slow
                          ? Bounds()
                          : bounds_of(choice.slow.value_or(slowest), latencies, calls.size());
  const Bounds typical = bounds_of(choice.typical.value_or(middle), latencies, calls.size());
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    const bool is_slow =
        selection_is_slow ? calls.is_slow(call) : slow.contains(calls.latency[call]);
    const bool is_typical =
        choice.typical_are_others ? !is_slow : typical.contains(calls.latency[call]);
    calls.set[call] = is_slow && is_typical ? FunctionCalls::Set::both
                      : is_slow             ? FunctionCalls::Set::slow
                      : is_typical          ? FunctionCalls::Set::typical
                                            : FunctionCalls::Set::other;
  }
  sum_up(calls);
  if (calls.slow.calls == 0) {
    return none("is slow by this choice", "lower the bound of --slow, or widen the selection");
  }
  if (calls.typical.calls == 0) {
    return none("is typical by this choice", "widen --typical");
  }
  return calls;
}

} // namespace ptlens::measure
