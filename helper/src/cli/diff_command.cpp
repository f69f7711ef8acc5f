// ptlens diff: two recordings compared, function by function.
#include "cli/commands.hpp"
#include "cli/progress_line.hpp"
#include "engine/engine.hpp"
#include "export/difference.hpp"
#include "measure/names/find_function.hpp"
#include "measure/report/difference.hpp"
#include "measure/selection/selection.hpp"

#include <iostream>

namespace ptlens::cli {
namespace {

// Where the function is in both: by its name in each, so that either may lack it.
Result<measure::RecordingDifference> one_function(const measure::Measurement& base,
                                                  const measure::Measurement& now,
                                                  const DiffOptions& options) {
  measure::RecordingDifference result;
  const auto here = measure::find_function(now, options.function, options.binary);
  if (here) {
    const stacks::FunctionId there = measure::same_function(base, now, *here);
    if (there == stacks::FunctionId::none) {
      result.only_now.push_back(measure::report(now, *here, {}));
    } else {
      result.both.push_back(measure::differences_of(base, there, now, *here));
    }
    return result;
  }
  if (here.error().kind != Error::Kind::not_found) {
    return std::unexpected(here.error());
  }
  const auto there = measure::find_function(base, options.function, options.binary);
  if (!there) {
    return std::unexpected(here.error());
  }
  result.only_base.push_back(measure::report(base, *there, {}));
  return result;
}

} // namespace

Result<void> diff(const DiffOptions& options) {
  RecordingOptions base_options = options.source;
  base_options.recording = options.base;
  const auto base =
      engine::open(options.base, open_options(base_options), ProgressLine().progress());
  if (!base) {
    return std::unexpected(base.error());
  }
  const auto now = engine::open(options.source.recording, open_options(options.source),
                                ProgressLine().progress());
  if (!now) {
    return std::unexpected(now.error());
  }
  measure::RecordingDifference difference;
  if (options.function.empty()) {
    difference = measure::differences(**base, **now);
  } else {
    auto found = one_function(**base, **now, options);
    if (!found) {
      return std::unexpected(found.error());
    }
    difference = std::move(*found);
  }
  if (options.source.json) {
    std::cout << exporting::dump(exporting::difference_json(**base, **now, difference)) << '\n';
  } else {
    std::cout << exporting::difference_text(**base, **now, difference);
  }
  return {};
}

} // namespace ptlens::cli
