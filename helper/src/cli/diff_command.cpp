// ptlens diff: recordings compared, function by function.
#include "cli/commands.hpp"
#include "cli/progress_line.hpp"
#include "engine/engine.hpp"
#include "export/difference.hpp"
#include "measure/change/recordings.hpp"
#include "measure/names/find_function.hpp"

#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptlens::cli {
namespace {

class OpenRuns {
public:
  Result<void> open(const std::vector<std::string>& paths, const RecordingOptions& source) {
    for (const std::string& path : paths) {
      RecordingOptions options = source;
      options.recording = path;
      auto opened = engine::open(path, open_options(options), ProgressLine().progress());
      if (!opened) {
        return std::unexpected(opened.error());
      }
      runs_.push_back(opened->get());
      owners_.push_back(std::move(*opened));
    }
    return {};
  }
  [[nodiscard]] measure::Recordings runs() const { return runs_; }

private:
  std::vector<std::shared_ptr<const measure::Measurement>> owners_;
  std::vector<const measure::Measurement*> runs_;
};

// Compares one function. It is found by its name in each recording, so that any may lack it.
Result<measure::RecordingDifference> one_function(measure::Recordings base, measure::Recordings now,
                                                  const DiffOptions& options) {
  std::optional<Error> not_found;
  for (const measure::Recordings side : {now, base}) {
    for (const measure::Measurement* recording : side) {
      const auto found = measure::find_function(*recording, options.function, options.binary);
      if (found) {
        return measure::differences_of(base, now, *recording, *found);
      }
      if (found.error().kind != Error::Kind::not_found) {
        return std::unexpected(found.error());
      }
      not_found = not_found ? not_found : found.error();
    }
  }
  return std::unexpected(*not_found);
}

} // namespace

Result<void> diff(const DiffOptions& options) {
  const bool several = !options.base_runs.empty();
  OpenRuns base;
  OpenRuns now;
  if (auto opened =
          base.open(several ? options.base_runs : std::vector{options.base}, options.source);
      !opened) {
    return opened;
  }
  if (auto opened = now.open(several ? options.now_runs : std::vector{options.source.recording},
                             options.source);
      !opened) {
    return opened;
  }
  Result<measure::RecordingDifference> difference =
      options.function.empty() ? measure::differences(base.runs(), now.runs())
                               : one_function(base.runs(), now.runs(), options);
  if (!difference) {
    return std::unexpected(difference.error());
  }
  if (options.source.json) {
    std::cout << exporting::dump(exporting::difference_json(base.runs(), now.runs(), *difference))
              << '\n';
  } else {
    std::cout << exporting::difference_text(base.runs(), now.runs(), *difference);
  }
  return {};
}

} // namespace ptlens::cli
