// Which calls of a time line and of its twin are compared branch by branch.
#include "measure/timeline/nested_calls.hpp"
#include "measure/timeline/timeline.hpp"

#include <algorithm>
#include <array>

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
  stacks::FunctionId function = timeline.subset.calls().function[timeline.row];
  std::array<PlacedCall, 2> both = {place_of(timeline.subset, timeline.row),
                                    place_of(timeline.subset, timeline.twin->row)};
  while (pairs.size() < most_compared_pairs) {
    const CallSubset subset =
        read_first_children(measurement, function, both, most_compared_children).subset;
    const stacks::CallTable& calls = subset.calls();
    const auto row = row_of(subset, both[0]);
    const auto twin_row = row_of(subset, both[1]);
    if (!row || !twin_row) {
      break; // a damaged block
    }
    pairs.push_back({.function = function,
                     .call = traced_call(measurement, calls, *row),
                     .twin = traced_call(measurement, calls, *twin_row)});
    const AlignedCall next = most_different(calls, align_children(calls, *row, *twin_row));
    if (!next.in_both()) {
      break;
    }
    function = calls.function[next.row];
    both = {place_of(subset, next.row), place_of(subset, next.twin_row)};
  }
  return pairs;
}

} // namespace ptlens::measure
