// One recording that a client has open, with what is remembered of the answers about it. May be
// used from several threads at once.
#pragma once

#include "measure/lines/lines.hpp"
#include "server/host/host.hpp"
#include "server/requests/requests.hpp"
#include "source/measured_sources.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace ptlens::server {

struct OpenRecording {
  std::string id;
  std::shared_ptr<const measure::Measurement> measurement;
  OpenRequest source;              // what it was opened as
  source::MeasuredSources sources; // what was kept of its sources

  // Whether calls that were kept could not be read: answers about them lack them.
  [[nodiscard]] bool damaged() const {
    return measurement->cache != nullptr && measurement->cache->damaged();
  }

  // As measure::lines; remembered by file.
  [[nodiscard]] Result<std::shared_ptr<const measure::FileLines>> lines(const std::string& file);

  using SharedInlined = std::shared_ptr<const measure::InlinedMeasurement>;
  // What `measure` gives for the inlined functions of that name and binary; the last is remembered.
  [[nodiscard]] Result<SharedInlined>
  inlined(const std::string& name, const std::string& binary,
          const std::function<Result<SharedInlined>()>& measure);

  using SharedLineTimes = std::shared_ptr<const line_time::LineTimes>;
  // The line time of a file, as its recorded name, that was measured before; null: none was.
  [[nodiscard]] SharedLineTimes line_times(const std::string& file);
  // The same, or what `measure` gives for the functions of the file, which is remembered.
  [[nodiscard]] Result<SharedLineTimes>
  line_times(const measure::FileLines& lines,
             const std::function<Result<SharedLineTimes>(const std::vector<stacks::FunctionInfo>&)>&
                 measure);

private:
  std::mutex mutex_;
  std::string inlined_of_; // name and binary of `inlined_`
  SharedInlined inlined_;
  std::map<std::string, std::shared_ptr<const measure::FileLines>> lines_;
  std::map<std::string, SharedLineTimes> line_times_; // by recorded name
};

// `recording` of a result: the recording's JSON with its id first.
[[nodiscard]] Json with_id(const OpenRecording& recording, Json result);

// How an answer ends that was not wanted any more.
[[nodiscard]] Error cancelled_question();

} // namespace ptlens::server
