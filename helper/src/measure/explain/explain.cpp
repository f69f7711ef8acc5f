// Divides the gap among the parts of the function's calls, and follows each large part down to what
// explains it.
#include "measure/explain/explain.hpp"

#include "base/parallel.hpp"
#include "measure/explain/bootstrap.hpp"
#include "measure/explain/kinds.hpp"
#include "measure/explain/parts.hpp"
#include "measure/explain/variance.hpp"

#include <cmath>
#include <optional>
#include <utility>

namespace ptlens::measure {

namespace {

constexpr std::size_t deepest = 64; // steps

// Follows the part down while its largest part is more than half of it. Ends at a function's own
// time or wait.
std::vector<Part> path_below(const PartReader& reader, const Level& level, const PartValues& from) {
  std::vector<Part> path;
  Part last = from.part;
  std::optional<LowerLevel> above;
  cache::EdgeId edge = from.edge;
  while (last.key.kind == PartKind::child && path.size() < deepest) {
    above = reader.below(above ? above->level() : level, edge);
    const std::vector<PartValues> parts = reader.read(above->level());
    constexpr double half = 0.5;
    if (parts.empty() || parts.front().part.delta <= half * last.delta) {
      break;
    }
    last = parts.front().part;
    edge = parts.front().edge;
    path.push_back(last);
  }
  return path;
}

} // namespace

Result<Explanation> explain(const Measurement& measurement, stacks::FunctionId function,
                            const Selection& selection, const SetChoice& sets) {
  const auto calls = divide_calls(measurement, function, selection, sets);
  if (!calls) {
    return std::unexpected(calls.error());
  }
  Explanation result{.function = function,
                     .slow = calls->slow,
                     .typical = calls->typical,
                     .complete = calls->size(),
                     .left_out = calls->left_out,
                     .gap = calls->slow.mean - calls->typical.mean,
                     .uncertainty = calls->uncertainty};
  constexpr double clear = 3; // times the uncertainty
  result.typical_are_others = sets.typical_are_others;
  result.slowest_percent = !sets.slow && selection.accepts_all();
  result.few_slow_calls = result.slow.calls < fewest_slow_calls;
  result.gap_is_uncertain = std::abs(result.gap) < clear * static_cast<double>(calls->uncertainty);
  const PartReader reader(measurement, *calls);
  const Level level = reader.top(function);
  const std::vector<PartValues> parts = reader.read(level);
  result.components.resize(parts.size());
  std::size_t followed = 0; // the parts of the largest shares come first
  for (std::size_t index = 0; index < parts.size(); ++index) {
    Part& part = result.components[index].part;
    part = parts[index].part;
    if (part.share >= least_followed_share) {
      result.explained += part.share;
      followed = index + 1;
    }
  }
  std::vector<ShareInterval> intervals;
  do_tasks(followed + 3, [&](std::size_t task) {
    if (task < followed) {
      Component& component = result.components[task];
      if (component.part.share >= least_followed_share) {
        component.path = path_below(reader, level, parts[task]);
      }
    } else if (task == followed) {
      result.kinds = slow_kinds(measurement, function, reader.owners(), parts);
    } else if (task == followed + 1) {
      intervals = share_intervals(reader.owners(), parts);
    } else {
      result.variance = variance_parts(measurement, function, *calls);
    }
  });
  for (std::size_t index = 0; index < parts.size(); ++index) {
    result.components[index].share_low = intervals[index].low;
    result.components[index].share_high = intervals[index].high;
  }
  return result;
}

} // namespace ptlens::measure
