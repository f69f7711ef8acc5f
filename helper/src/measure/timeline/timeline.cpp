#include "measure/timeline/timeline.hpp"

#include "measure/places/innermost_calls.hpp"
#include "measure/waits/wait_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
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

// Returns the row of the call in a subset that contains it.
std::optional<std::uint32_t> row_of(const CallSubset& subset, const StoredCall& call) {
  const stacks::CallTable& calls = subset.calls();
  const auto rows = std::views::iota(0U, static_cast<std::uint32_t>(calls.size()));
  const auto place = [&](std::uint32_t row) {
    return std::pair(calls.thread[row], calls.start[row]);
  };
  const auto same =
      std::ranges::equal_range(rows, std::pair(call.ref.block->thread, call.start), {}, place);
  const auto found = std::ranges::find(
      same, call.order, [&](std::uint32_t row) { return index_of(subset.order(row)); });
  return found == same.end() ? std::nullopt : std::optional(*found);
}

// Returns the typical call that is most like the given one.
std::optional<StoredCall> twin_of(const Measurement& measurement, stacks::FunctionId function,
                                  const StoredCall& call) {
  const std::vector<StoredCall> typical =
      typical_calls(measurement, function, call, most_candidates);
  std::vector<cache::Window> windows = {call.window()};
  for (const StoredCall& each : typical) {
    windows.push_back(each.window());
  }
  CallsNeeded needed(measurement);
  needed.add_calls_of(function);
  needed.add_calls_made_by(function);
  const CallSubset subset = needed.read(windows);
  std::vector<std::uint32_t> rows;
  for (const StoredCall& each : typical) {
    if (const auto row = row_of(subset, each)) {
      rows.push_back(*row);
    }
  }
  const auto row = row_of(subset, call);
  if (rows.empty() || rows.size() < typical.size() || !row) {
    return std::nullopt; // none, or a damaged block
  }
  return typical[most_alike(subset.calls(), *row, rows)];
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
  std::vector<cache::Window> windows = {call->window()};
  if (twin) {
    windows.push_back(twin->window());
  }
  CallsNeeded needed(measurement);
  needed.add_calls_below(function);
  Timeline made{.subset = needed.read(windows),
                .row = 0,
                .tree = {},
                .waits = {},
                .meanwhile = {},
                .twin = {}};
  const auto row = row_of(made.subset, *call);
  const auto twin_row = twin ? row_of(made.subset, *twin) : std::nullopt;
  if (!row) { // damaged or cancelled
    return std::unexpected(not_found(measurement, function, name));
  }
  made.row = *row;
  made.tree = calls_in(made.subset.calls(), made.row, most_timeline_calls);
  add_waits(measurement, waits, needed.edges(), made);
  if (twin_row) {
    made.twin = compare(made.subset.calls(), made.row, *twin_row);
  }
  return made;
}

} // namespace ptlens::measure
