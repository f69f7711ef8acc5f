#include "measure/timeline/timeline.hpp"

#include "measure/places/innermost_calls.hpp"
#include "measure/waits/wait_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace ptlens::measure {

namespace {

using waits::Wait;
using waits::Waker;

// Returns the start that is nearest to the wanted one among the calls of the thread.
std::optional<std::uint64_t> nearest_start(const Measurement& measurement,
                                           const stacks::CallTable& calls,
                                           stacks::FunctionId function, const CallName& name) {
  const auto distance = [&](std::uint64_t start) {
    return start > name.start ? start - name.start : name.start - start;
  };
  std::optional<std::uint64_t> nearest;
  for (std::uint32_t row = 0; row < calls.size(); ++row) {
    if (calls.function[row] == function && measurement.threads[calls.thread[row]].tid == name.tid &&
        (!nearest || distance(calls.start[row]) < distance(*nearest))) {
      nearest = calls.start[row];
    }
  }
  return nearest;
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
    const CallSubset subset = needed.read();
    const stacks::CallTable& calls = subset.calls();
    for (std::uint32_t row = 0; row < calls.size(); ++row) {
      const std::uint64_t end = calls.start[row] + calls.wall(row);
      if (measurement_.threads[calls.thread[row]].tid != waker.tid ||
          calls.start[row] > waker.time_ns || end < waker.time_ns ||
          !known_.insert({waker.tid, calls.start[row], function->name}).second) {
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

} // namespace

Result<CallName> parse_call_name(std::string_view text) {
  CallName name;
  const char* const end = text.data() + text.size();
  const auto tid = std::from_chars(text.data(), end, name.tid);
  const bool has_colon = tid.ec == std::errc{} && tid.ptr != end && *tid.ptr == ':';
  const auto start = std::from_chars(has_colon ? tid.ptr + 1 : end, end, name.start);
  if (!has_colon || start.ec != std::errc{} || start.ptr != end || name.tid <= 0) {
    constexpr std::size_t shown = 100;
    return std::unexpected(Error{
        .kind = Error::Kind::bad_input,
        .message = fmt::format("not a call: \"{}\"", text.substr(0, shown)),
        .remedy =
            "write TID:START, with the fields tid and start of `ptlens calls` or of an example "
            "of `ptlens explain`"});
  }
  return name;
}

Result<Timeline> timeline(const Measurement& measurement, const waits::Waits& waits,
                          stacks::FunctionId function, const CallName& name) {
  CallsNeeded needed(measurement);
  needed.add_calls_below(function);
  const std::vector<cache::EdgeId> edges = needed.edges();
  Timeline made{.subset = needed.read(),
                .row = UINT32_MAX,
                .tree = {},
                .waits = {},
                .meanwhile = {},
                .twin = {}};
  const stacks::CallTable& calls = made.subset.calls();
  for (std::uint32_t row = 0; row < calls.size() && made.row == UINT32_MAX; ++row) {
    if (calls.start[row] == name.start && calls.function[row] == function &&
        measurement.threads[calls.thread[row]].tid == name.tid) {
      made.row = row;
    }
  }
  if (made.row == UINT32_MAX) {
    const auto nearest = nearest_start(measurement, calls, function, name);
    return std::unexpected(Error{
        .kind = Error::Kind::not_found,
        .message = fmt::format("no call of {} starts on thread {} at {}",
                               measurement.functions[function].name, name.tid, name.start),
        .file = measurement.recording.path,
        .remedy = nearest ? fmt::format("the nearest one is --call {}:{}", name.tid, *nearest)
                          : std::string("`ptlens calls` lists the calls with their threads")});
  }
  made.tree = calls_in(calls, made.row, most_timeline_calls);
  add_waits(measurement, waits, edges, made);
  made.twin = find_twin(calls, made.row);
  return made;
}

} // namespace ptlens::measure
