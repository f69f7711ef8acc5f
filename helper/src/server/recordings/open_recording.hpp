// One recording that a client has open, with remembered answers about it. May be used from several
// threads at once.
#pragma once

#include "measure/change/file_runs.hpp"
#include "measure/flame/flame.hpp"
#include "measure/lines/lines.hpp"
#include "server/host/host.hpp"
#include "server/requests/requests.hpp"
#include "source/measured_sources.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ptlens::server {

struct OpenRecording {
  std::string id;
  std::shared_ptr<const measure::Measurement> measurement;
  OpenRequest source;              // the request that opened it
  source::MeasuredSources sources; // the sources as they were measured
  // The functions that the recording was made to measure, ascending; nothing: all.
  std::optional<std::vector<stacks::FunctionId>> asked_for = {};

  // Returns whether the recording was made to measure the function, so that it has all its calls.
  [[nodiscard]] bool was_asked_for(stacks::FunctionId function) const {
    return !asked_for || std::ranges::binary_search(*asked_for, function);
  }

  // Returns whether cached calls could not be read, so that answers are incomplete.
  [[nodiscard]] bool damaged() const {
    return measurement->cache != nullptr && measurement->cache->damaged();
  }

  // Returns measure::lines of a file, and remembers it.
  [[nodiscard]] Result<std::shared_ptr<const measure::FileLines>> lines(const std::string& file);

  // Returns measure::file_runs of what lines() returned for a file, and remembers it.
  [[nodiscard]] std::shared_ptr<const measure::FileRuns> runs(const measure::FileLines& lines);

  using SharedInlined = std::shared_ptr<const measure::InlinedMeasurement>;
  // Returns the result of `measure` for the inlined functions of that name and binary, and
  // remembers the last one.
  [[nodiscard]] Result<SharedInlined>
  inlined(const std::string& name, const std::string& binary,
          const std::function<Result<SharedInlined>()>& measure);

  using SharedLineTimes = std::shared_ptr<const line_time::LineTimes>;
  // Returns the line time that was measured before for a file, by its recorded name; null: none.
  [[nodiscard]] SharedLineTimes line_times(const std::string& file);
  // Returns the same, or measures the functions of the file with `measure` and remembers the
  // result.
  [[nodiscard]] Result<SharedLineTimes>
  line_times(const measure::FileLines& lines,
             const std::function<Result<SharedLineTimes>(const std::vector<stacks::FunctionInfo>&)>&
                 measure);

  // What a flame graph is of.
  struct FlameQuestion {
    std::vector<stacks::FunctionId> functions;
    measure::Selection selection;
    measure::FlameTime time = measure::FlameTime::wall;
    bool waits = false;

    bool operator==(const FlameQuestion&) const = default;
  };
  using SharedFlame = std::shared_ptr<const measure::FlameTree>;
  // Returns the flame graph with its nodes down to `smallest`, or smaller ones too: a share of the
  // root's time, 0 for all. `make` makes it. The last graphs are remembered, because a zoom shows
  // more nodes of the same graph.
  [[nodiscard]] SharedFlame flame(const FlameQuestion& question, double smallest,
                                  const std::function<measure::FlameTree()>& make);

private:
  std::mutex mutex_;
  std::string inlined_of_; // name and binary of `inlined_`
  SharedInlined inlined_;
  std::map<std::string, std::shared_ptr<const measure::FileLines>> lines_;
  std::map<std::string, std::shared_ptr<const measure::FileRuns>> runs_; // by recorded name
  std::map<std::string, SharedLineTimes> line_times_;                    // by recorded name
  struct Flame {
    FlameQuestion question;
    double smallest = 0;
    SharedFlame tree;
  };
  std::deque<Flame> flames_; // the latest is first
};

// Returns the function as results of the protocol name it.
[[nodiscard]] protocol::FoundFunction found_function(const stacks::FunctionInfo& function,
                                                     std::string linkage_name,
                                                     std::string build_id);

// Returns the result with the recording's id as the first field of `recording`.
[[nodiscard]] Json with_id(const OpenRecording& recording, Json result);

// Returns the error of a question that the client cancelled.
[[nodiscard]] Error cancelled_question();

} // namespace ptlens::server
