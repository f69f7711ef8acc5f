// The recordings that a client has open, and the answers about them. Knows nothing of JSON-RPC.
// May be used from several threads at once.
#pragma once

#include "measure/lines.hpp"
#include "server/host.hpp"
#include "server/requests.hpp"

#include <atomic>
#include <cstdint>
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
  OpenRequest source; // what it was opened as

  // Whether calls that were kept could not be read: answers about them lack them.
  [[nodiscard]] bool damaged() const {
    return measurement->store != nullptr && measurement->store->damaged();
  }

  // As measure::lines; remembered by file.
  [[nodiscard]] Result<std::shared_ptr<const measure::FileLines>> lines(const std::string& file);

  using SharedInlined = std::shared_ptr<const measure::InlinedMeasurement>;
  // What `measure` gives for the inlined functions of that name and binary; the last is remembered.
  [[nodiscard]] Result<SharedInlined>
  inlined(const std::string& name, const std::string& binary,
          const std::function<Result<SharedInlined>()>& measure);

private:
  std::mutex mutex_;
  std::string inlined_of_; // name and binary of `inlined_`
  SharedInlined inlined_;
  std::map<std::string, std::shared_ptr<const measure::FileLines>> lines_;
};

class Session {
public:
  explicit Session(Host host) : host_(std::move(host)) {}

  // {recording} with the id of the recording that is now open and active.
  [[nodiscard]] Result<Json> open(const OpenRequest& request, Progress& progress);
  [[nodiscard]] Result<Json> record(const RecordRequest& request, Progress& progress);
  [[nodiscard]] Result<Json> close(const std::string& id);

  [[nodiscard]] Result<Json> functions(const std::string& id);
  [[nodiscard]] Result<Json> report(const ReportRequest& request, Progress& progress);
  [[nodiscard]] Result<Json> lines(const LinesRequest& request);
  [[nodiscard]] Result<Json> flame(const FlameRequest& request);
  [[nodiscard]] Result<Json> calls(const CallsRequest& request);

  // The one opened last of those still open; nullptr when none is.
  [[nodiscard]] std::shared_ptr<OpenRecording> active() const;

  // Ends what runs: a recording keeps what it has, all else is cancelled. Later requests to open or
  // record are refused.
  void stop();

private:
  class Running;

  [[nodiscard]] Result<Json> load(const OpenRequest& request, Progress& progress);
  [[nodiscard]] Result<Json> whole(const std::string& id, const std::function<Result<Json>()>& ask);
  [[nodiscard]] Result<void> renew(const OpenRecording& damaged);
  [[nodiscard]] Result<Json> report_once(const ReportRequest& request, Progress& progress);
  [[nodiscard]] Result<Json> lines_once(const LinesRequest& request);
  [[nodiscard]] Result<Json> flame_once(const FlameRequest& request);
  [[nodiscard]] Result<Json> calls_once(const CallsRequest& request);
  [[nodiscard]] Result<std::shared_ptr<OpenRecording>> find(const std::string& id) const;

  const Host host_;
  mutable std::mutex mutex_; // guards what follows
  std::vector<std::shared_ptr<OpenRecording>> open_;
  std::uint64_t last_id_ = 0;
  std::map<Progress*, bool> running_; // true: there is a recording to be kept
  bool stopping_ = false;
};

// `recording` of a result: the recording's JSON with its id first.
[[nodiscard]] Json with_id(const OpenRecording& recording, Json result);

} // namespace ptlens::server
