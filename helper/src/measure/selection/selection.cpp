// A selection is checked against the threads and functions of the recording.
#include "measure/selection/selection.hpp"

#include "measure/names/find_function.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

namespace ptlens::measure {

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
  if (!selection.ancestor.empty()) {
    const FunctionSelector selector = parse_selector(selection.ancestor);
    if (functions_named(measurement, selector, {}).empty()) {
      return std::unexpected(no_such_function(measurement, selection.ancestor, selector, {}));
    }
  }
  if (!selection.tid) {
    return {};
  }
  const auto is_selected = [&](const stacks::ThreadInfo& thread) {
    return thread.tid == *selection.tid;
  };
  if (std::ranges::any_of(measurement.threads, is_selected)) {
    return {};
  }
  const auto shown = measurement.threads | std::views::take(listed_candidates) |
                     std::views::transform([](const stacks::ThreadInfo& thread) {
                       return fmt::format("{} ({})", thread.tid, thread.comm);
                     });
  return std::unexpected(Error{
      .kind = Error::Kind::not_found,
      .message = fmt::format("no thread {} in the recording", *selection.tid),
      .file = measurement.recording.path,
      .offset = std::nullopt,
      .remedy = measurement.threads.empty()
                    ? std::string("the recording contains no thread: record again")
                    : fmt::format("threads: {}{}", fmt::join(shown, ", "),
                                  measurement.threads.size() > listed_candidates ? ", ..." : "")});
}

} // namespace ptlens::measure
