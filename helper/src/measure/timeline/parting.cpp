// Which calls of a time line and of its twin are compared branch by branch.
#include "measure/timeline/timeline.hpp"

#include <algorithm>

namespace ptlens::measure {

namespace {

TracedCall traced_call(const Measurement& measurement, const stacks::CallTable& calls,
                       std::uint32_t row) {
  TracedCall call{.tid = measurement.threads[calls.thread[row]].tid,
                  .start = calls.start[row],
                  .end = calls.start[row] + calls.wall(row)};
  for (std::uint32_t before = row; before-- > 0 && calls.thread[before] == calls.thread[row] &&
                                   calls.start[before] == calls.start[row];) {
    call.skip += calls.function[before] == calls.function[row] ? 1 : 0;
  }
  return call;
}

// Returns the calls that both made whose latencies differ most; none of either where there are
// none.
AlignedCall most_different(const stacks::CallTable& calls, std::span<const AlignedCall> aligned) {
  AlignedCall most;
  std::uint64_t greatest = 0;
  for (const AlignedCall& each : aligned) {
    if (!each.in_both()) {
      continue;
    }
    const auto [low, high] = std::minmax(calls.latency[each.row], calls.latency[each.twin_row]);
    if (!most.in_both() || high - low > greatest) {
      most = each;
      greatest = high - low;
    }
  }
  return most;
}

} // namespace

std::vector<TracedPair> pairs_to_compare(const Measurement& measurement, const Timeline& timeline) {
  std::vector<TracedPair> pairs;
  if (!timeline.twin) {
    return pairs;
  }
  const stacks::CallTable& calls = timeline.subset.calls();
  AlignedCall next{.row = timeline.row, .twin_row = timeline.twin->row};
  while (next.in_both() && pairs.size() < most_compared_pairs) {
    pairs.push_back({.function = calls.function[next.row],
                     .call = traced_call(measurement, calls, next.row),
                     .twin = traced_call(measurement, calls, next.twin_row)});
    next = most_different(calls, align_children(calls, next.row, next.twin_row));
  }
  return pairs;
}

} // namespace ptlens::measure
