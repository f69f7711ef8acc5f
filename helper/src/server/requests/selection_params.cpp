#include "server/requests/selection_params.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace ptlens::server {

namespace {

using protocol::Read;

constexpr std::uint64_t most_ns = std::numeric_limits<std::uint64_t>::max();

std::unexpected<protocol::BadField> bad_selection(std::string path, const std::string& what) {
  return std::unexpected(protocol::bad_field(std::move(path), what));
}

std::uint64_t whole_ns(double ns) {
  constexpr double most = 18e18; // below 2^64
  return ns >= most ? most_ns : static_cast<std::uint64_t>(ns);
}

// Returns the whole ns with low <= value <= high.
measure::Interval closed(const protocol::Interval& bounds) {
  return {.low = whole_ns(std::ceil(bounds.low.value_or(0))),
          .high = bounds.high ? whole_ns(std::floor(*bounds.high)) : most_ns};
}

// Returns the whole ns with low <= value < high; nothing where there are none.
std::optional<measure::Interval> half_open(double low, std::optional<double> high) {
  measure::Interval interval{.low = whole_ns(std::ceil(low))};
  if (high) {
    const std::uint64_t end = whole_ns(std::ceil(*high));
    if (interval.low >= end) {
      return std::nullopt;
    }
    interval.high = end == most_ns ? most_ns : end - 1;
  }
  return interval;
}

measure::CallerCondition condition_of(const protocol::CallerCondition& caller) {
  return {.function = caller.function,
          .file = caller.file,
          .line = static_cast<std::uint32_t>(caller.line),
          .negated = caller.not_};
}

stacks::CallState state_of(protocol::CallState state) {
  switch (state) {
  case protocol::CallState::incomplete:
    return stacks::CallState::incomplete;
  case protocol::CallState::unwound:
    return stacks::CallState::unwound;
  case protocol::CallState::complete:
    break;
  }
  return stacks::CallState::complete;
}

} // namespace

Read<measure::Selection> to_selection(const std::optional<protocol::Selection>& params) {
  measure::Selection selection;
  if (!params) {
    return selection;
  }
  if (params->time) {
    selection.time = closed(*params->time);
  }
  if (params->latency) {
    const auto latency = half_open(params->latency->low.value_or(0), params->latency->high);
    if (!latency) {
      return bad_selection("selection.latency",
                           "contains no latency: its end does not belong to it");
    }
    selection.latency = *latency;
  }
  selection.tids = params->tids;
  selection.not_tids = params->not_tids;
  for (const protocol::CallerCondition& caller : params->callers) {
    if (caller.line != 0 && caller.file.empty()) {
      return bad_selection(fmt::format("selection.callers[{}].line", selection.callers.size()),
                           "needs a file");
    }
    selection.callers.push_back(condition_of(caller));
  }
  for (const protocol::AncestorCondition& ancestor : params->ancestors) {
    const auto latency = half_open(ancestor.low, ancestor.high);
    if (!latency) {
      return bad_selection(fmt::format("selection.ancestors[{}].high", selection.ancestors.size()),
                           "must be above low");
    }
    selection.ancestors.push_back({.function = ancestor.function, .latency = *latency});
  }
  for (const protocol::CallsCondition& called : params->calls) {
    const std::uint64_t most = called.most ? std::uint64_t{*called.most} : most_ns;
    if (called.least > most) {
      return bad_selection(fmt::format("selection.calls[{}].least", selection.calls.size()),
                           "must not be above most");
    }
    selection.calls.push_back(
        {.function = called.function, .count = {.low = called.least, .high = most}});
  }
  for (const protocol::WaitCondition& waited : params->waited) {
    // An unknown name is refused before.
    selection.waited.push_back(
        {.reason =
             measure::asked_reason(protocol::name_of(waited.reason)).value_or(measure::blocked),
         .least = waited.least});
  }
  for (const protocol::CallState state : params->states) {
    selection.states.add(state_of(state));
  }
  selection.complement = params->complement;
  return selection;
}

} // namespace ptlens::server
