// A selection is checked against the threads and functions of the recording.
#include "measure/selection/selection.hpp"

#include "measure/names/find_function.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

namespace ptlens::measure {

namespace {

Result<void> check_function(const Measurement& measurement, std::string_view condition,
                            const std::string& function) {
  const FunctionSelector selector = parse_selector(function);
  if (!functions_named(measurement, selector, {}).empty()) {
    return {};
  }
  Error error = no_such_function(measurement, function, selector, {});
  error.message = fmt::format("{}: {}", condition, error.message);
  return std::unexpected(std::move(error));
}

Result<void> check_thread(const Measurement& measurement, std::int32_t tid) {
  if (std::ranges::find(measurement.threads, tid, &stacks::ThreadInfo::tid) !=
      measurement.threads.end()) {
    return {};
  }
  const auto shown = measurement.threads | std::views::take(listed_candidates) |
                     std::views::transform([](const stacks::ThreadInfo& thread) {
                       return fmt::format("{} ({})", thread.tid, thread.comm);
                     });
  return std::unexpected(Error{
      .kind = Error::Kind::not_found,
      .message = fmt::format("no thread {} in the recording", tid),
      .file = measurement.recording.path,
      .offset = std::nullopt,
      .remedy = measurement.threads.empty()
                    ? std::string("the recording contains no thread: record again")
                    : fmt::format("threads: {}{}", fmt::join(shown, ", "),
                                  measurement.threads.size() > listed_candidates ? ", ..." : "")});
}

Result<void> check_waits(const Measurement& measurement) {
  if (measurement.waits == nullptr || !measurement.recording.off_cpu_known) {
    return std::unexpected(
        Error{.kind = Error::Kind::not_found,
              .message = "the recording does not say what its threads waited for",
              .file = measurement.recording.path,
              .remedy = "record again with `ptlens record`"});
  }
  const auto& read = measurement.waits->get();
  return read ? Result<void>() : std::unexpected(read.error());
}

} // namespace

bool Selection::accepts_all() const {
  return !complement && !time.has_bounds() && !latency.has_bounds() && tids.empty() &&
         not_tids.empty() && callers.empty() && ancestors.empty() && calls.empty() &&
         waited.empty();
}

bool Selection::is_of_calls() const {
  return complement || latency.has_bounds() || !callers.empty() || !ancestors.empty() ||
         !calls.empty() || !waited.empty() || !states.empty();
}

bool Selection::needs_waits() const {
  return std::ranges::any_of(waited, [](const WaitCondition& condition) {
    return is_of_recorded_waits(condition.reason);
  });
}

bool Selection::accepts_thread(std::int32_t tid) const {
  const auto has = [tid](const std::vector<std::int32_t>& list) {
    return std::ranges::find(list, tid) != list.end();
  };
  return (tids.empty() || has(tids)) && !has(not_tids);
}

std::uint64_t trace_start(const Measurement& measurement) {
  std::uint64_t start = UINT64_MAX;
  for (const stacks::ThreadInfo& thread : measurement.threads) {
    if (thread.last_ns != 0) { // 0: nothing of the thread was traced
      start = std::min(start, thread.first_ns);
    }
  }
  if (start == UINT64_MAX) {
    start = measurement.cache->first_start();
  }
  return start == UINT64_MAX ? 0 : start;
}

Result<void> check_selection(const Measurement& measurement, const Selection& selection) {
  Result<void> checked;
  if (selection.needs_waits()) {
    checked = check_waits(measurement);
  }
  for (const CallerCondition& caller : selection.callers) {
    if (checked) {
      checked = check_function(measurement, "caller", caller.function);
    }
  }
  for (const AncestorCondition& ancestor : selection.ancestors) {
    if (checked) {
      checked = check_function(measurement, "ancestor", ancestor.function);
    }
  }
  for (const CallsCondition& called : selection.calls) {
    if (checked) {
      checked = check_function(measurement, "calls", called.function);
    }
  }
  for (const auto* const tids : {&selection.tids, &selection.not_tids}) {
    for (const std::int32_t tid : *tids) {
      if (checked) {
        checked = check_thread(measurement, tid);
      }
    }
  }
  return checked;
}

} // namespace ptlens::measure
