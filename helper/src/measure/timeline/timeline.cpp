#include "measure/timeline/timeline.hpp"

#include "cache/reading/window_calls.hpp"
#include "measure/places/innermost_calls.hpp"
#include "measure/timeline/nested_calls.hpp"
#include "measure/waits/wait_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace ptlens::measure {

namespace {

using waits::Wait;
using waits::Waker;

constexpr std::size_t most_candidates = 64;

// Returns the typical call that is most like the given one.
std::optional<StoredCall> twin_of(const Measurement& measurement, stacks::FunctionId function,
                                  const StoredCall& call) {
  const std::vector<StoredCall> typical =
      typical_calls(measurement, function, call, most_candidates);
  std::vector<PlacedCall> calls = {call.placed()};
  std::ranges::transform(typical, std::back_inserter(calls), &StoredCall::placed);
  const CallSubset subset =
      read_first_children(measurement, function, calls, most_compared_children).subset;
  std::vector<std::uint32_t> rows;
  for (const PlacedCall& each : calls) {
    if (const auto row = row_of(subset, each)) {
      rows.push_back(*row);
    }
  }
  if (typical.empty() || rows.size() < calls.size()) {
    return std::nullopt; // none, or a damaged block
  }
  return typical[most_alike(subset.calls(), rows.front(), std::span(rows).subspan(1))];
}

// Reads the calls in the call that begin in `first`, and the first ones that it and its twin made
// directly. `below`: all edges of calls in it.
CallSubset read_shown(const Measurement& measurement, stacks::FunctionId function,
                      std::span<const PlacedCall> call_and_twin, const cache::Window& first,
                      std::span<const cache::EdgeId> below) {
  CallsNeeded own(measurement);
  own.add_calls_of(function);
  own.add_calls_made_by(function);
  const std::vector<cache::EdgeId> own_edges = own.edges();
  std::vector<cache::EdgeId> others;
  std::ranges::set_difference(below, own_edges, std::back_inserter(others));
  std::vector<cache::Window> windows =
      read_first_children(measurement, function, call_and_twin, most_compared_children).windows;
  windows.push_back(first);
  const std::array<cache::EdgesInWindows, 2> sets = {
      {{.edges = own_edges, .windows = windows}, {.edges = others, .windows = {&first, 1}}}};
  return CallSubset(cache::read_calls(*measurement.cache, sets));
}

// Finds the calls of measured functions that a waker's stack shows.
class Meanwhile {
public:
  Meanwhile(const Measurement& measurement, const waits::Waits& waits)
      : measurement_(measurement), waits_(waits) {}

  void add(const Waker& waker) {
    if (waker.kind != Waker::Kind::thread || !waits_.stacks.has(waker.stack)) {
      return;
    }
    for (const stacks::SiteId site : waits_.stacks[waker.stack]) {
      const stacks::FunctionInfo* const shown = waits_.function_of(site);
      if (shown != nullptr && !waits::is_system_library(shown->binary)) {
        add_calls_of(*shown, waker);
      }
    }
  }

  std::vector<MeanwhileCall> take() {
    std::ranges::stable_sort(found_, {}, [](const MeanwhileCall& call) {
      return std::tuple(call.tid, call.start, UINT64_MAX - call.end);
    });
    return std::move(found_);
  }

private:
  void add_calls_of(const stacks::FunctionInfo& shown, const Waker& waker) {
    const auto function =
        std::ranges::find_if(measurement_.functions, [&](const stacks::FunctionInfo& each) {
          return each.address == shown.address && each.binary == shown.binary;
        });
    if (function == measurement_.functions.end()) {
      return;
    }
    CallsNeeded needed(measurement_);
    needed.add_calls_of(
        stacks::FunctionId{static_cast<std::uint32_t>(function - measurement_.functions.begin())});
    std::vector<cache::Window> windows;
    for (std::uint32_t thread = 0; thread < measurement_.threads.size(); ++thread) {
      if (measurement_.threads[thread].tid == waker.tid) {
        windows.push_back({.thread = thread, .begin = waker.time_ns, .end = waker.time_ns});
      }
    }
    const CallSubset subset = needed.read(windows);
    const stacks::CallTable& calls = subset.calls();
    for (std::uint32_t row = 0; row < calls.size(); ++row) {
      const std::uint64_t end = calls.start[row] + calls.wall(row);
      if (!known_.insert({waker.tid, calls.start[row], function->name}).second) {
        continue;
      }
      const stacks::SiteId site = calls.site[row];
      const bool has_site = measurement_.sites.has(site);
      found_.push_back({.tid = waker.tid,
                        .thread = waits_.thread_name(waker.tid),
                        .function = function->name,
                        .file = has_site ? measurement_.sites[site].file : "",
                        .line = has_site ? measurement_.sites[site].line : 0,
                        .start = calls.start[row],
                        .end = end});
    }
  }

  const Measurement& measurement_;
  const waits::Waits& waits_;
  std::set<std::tuple<std::int32_t, std::uint64_t, std::string>> known_;
  std::vector<MeanwhileCall> found_;
};

// `edges`: those whose calls show where a thread waited.
void add_waits(const Measurement& measurement, const waits::Waits& waits,
               std::span<const cache::EdgeId> edges, Timeline& made) {
  const stacks::CallTable& calls = made.subset.calls();
  const std::uint64_t begin = calls.start[made.row];
  const std::uint64_t end = begin + calls.wall(made.row);
  const auto inside = waits.within(measurement.threads[calls.thread[made.row]].tid, begin, end);
  std::vector<ThreadTime> begins;
  for (const Wait& wait : inside) {
    begins.push_back({.tid = wait.tid, .time_ns = wait.begin});
  }
  const InnermostCalls innermost(measurement, edges, std::move(begins));
  Meanwhile meanwhile(measurement, waits);
  for (const Wait& wait : inside) {
    TimelineWait shown{.begin = std::max(wait.begin, begin),
                       .end = std::min(wait.end, end),
                       .woken = wait.waker.time_ns,
                       .wait = {}};
    WaitRows rows(measurement, waits);
    rows.know_calls(innermost);
    rows.add({.wait = &wait, .time = shown.end - shown.begin});
    WaitReport one;
    rows.finish(one);
    shown.wait = std::move(one.rows.front());
    made.waits.push_back(std::move(shown));
    meanwhile.add(wait.waker);
  }
  made.meanwhile = meanwhile.take();
}

std::vector<stacks::Gap> lost_in(const Measurement& measurement, const stacks::CallTable& calls,
                                 std::uint32_t row) {
  const std::uint64_t begin = calls.start[row];
  const std::uint64_t end = begin + calls.wall(row);
  std::vector<stacks::Gap> inside;
  for (const auto& [from, to] : measurement.threads[calls.thread[row]].lost) {
    if (from < end && to > begin) {
      inside.emplace_back(std::max(from, begin), std::min(to, end));
    }
  }
  return inside;
}

Error not_found(const Measurement& measurement, stacks::FunctionId function, const CallName& name) {
  const auto nearest = nearest_start(measurement, function, name);
  return {.kind = Error::Kind::not_found,
          .message = fmt::format("no call of {} starts on thread {} at {}",
                                 measurement.functions[function].name, name.tid, name.start),
          .file = measurement.recording.path,
          .remedy = nearest ? fmt::format("the nearest one is --call {}:{}", name.tid, *nearest)
                            : std::string("`ptlens calls` lists the calls with their threads")};
}

} // namespace

Result<Timeline> timeline(const Measurement& measurement, const waits::Waits& waits,
                          stacks::FunctionId function, const CallName& name) {
  const auto call = find_call(measurement, function, name);
  if (!call) {
    return std::unexpected(not_found(measurement, function, name));
  }
  const auto twin = twin_of(measurement, function, *call);
  std::vector<PlacedCall> call_and_twin = {call->placed()};
  if (twin) {
    call_and_twin.push_back(twin->placed());
  }
  CallsNeeded needed(measurement);
  needed.add_calls_below(function);
  const std::vector<cache::EdgeId> below = needed.edges();
  const auto nested = count_nested(measurement, below, *call);
  const cache::Window first =
      nested ? first_part(measurement, below, call->window(), most_timeline_calls) : call->window();
  Timeline made{.subset = read_shown(measurement, function, call_and_twin, first, below),
                .row = 0,
                .tree = {},
                .waits = {},
                .lost = {},
                .meanwhile = {},
                .twin = {}};
  const auto row = row_of(made.subset, call_and_twin.front());
  const auto twin_row = twin ? row_of(made.subset, call_and_twin.back()) : std::nullopt;
  if (!row) { // damaged or cancelled
    return std::unexpected(not_found(measurement, function, name));
  }
  made.row = *row;
  made.tree = calls_in(made.subset.calls(), made.row, most_timeline_calls);
  if (nested) {
    made.tree.left_out = *nested + 1 - std::uint64_t{made.tree.calls.size()};
  }
  made.lost = lost_in(measurement, made.subset.calls(), made.row);
  add_waits(measurement, waits, below, made);
  if (twin_row) {
    made.twin = compare(made.subset.calls(), made.row, *twin_row);
  }
  return made;
}

} // namespace ptlens::measure
