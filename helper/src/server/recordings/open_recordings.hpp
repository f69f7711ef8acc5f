// The recordings that a client has open, and the answers about them, without JSON-RPC. May be used
// from several threads at once.
#pragma once

#include "server/host/host.hpp"
#include "server/recordings/open_recording.hpp"
#include "server/requests/requests.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace ptlens::server {

class Session {
public:
  explicit Session(Host host) : host_(std::move(host)) {}

  // Receives the partial report on the selected function while a trace is decoded.
  using PartialListener = std::function<void(Json)>;

  // Each returns {recording} with the id of the recording, which is now open.
  [[nodiscard]] Result<Json> open(const OpenRequest& request, const PartialListener& partial,
                                  Progress& progress);
  [[nodiscard]] Result<Json> record(const RecordRequest& request, const PartialListener& partial,
                                    Progress& progress);
  [[nodiscard]] Result<Json> close(const std::string& id);
  // Selects the open recordings that lenses and hovers show, and the baseline.
  [[nodiscard]] Result<Json> activate(const protocol::ActivateParams& request);
  // Returns the state of a recording's cache, whether it is open or not; removes the cache first on
  // request.
  [[nodiscard]] Result<Json> cache(const CacheRequest& request);

  // Makes a bundle and returns {path, bytes, files, missing}.
  [[nodiscard]] Result<Json> bundle(const BundleRequest& request, Progress& progress);

  [[nodiscard]] Result<Json> functions(const std::string& id);
  [[nodiscard]] Result<Json> identify(const protocol::IdentifyParams& request);
  [[nodiscard]] Result<Json> report(const ReportRequest& request, Progress& progress);
  [[nodiscard]] Result<Json> lines(const std::string& id, const std::string& file,
                                   Progress& progress);
  // Returns {file, line_time}. The first call for a file decodes the trace again; later calls
  // return the remembered result.
  [[nodiscard]] Result<Json> line_time(const std::string& id, const std::string& file,
                                       Progress& progress);
  [[nodiscard]] Result<Json> flame(const FlameRequest& request, Progress& progress);
  [[nodiscard]] Result<Json> calls(const CallsRequest& request, Progress& progress);
  [[nodiscard]] Result<Json> explain(const ExplainRequest& request, Progress& progress);
  [[nodiscard]] Result<Json> diff(const protocol::DiffParams& request, Progress& progress);
  [[nodiscard]] Result<Json> waits(const WaitsRequest& request, Progress& progress);
  [[nodiscard]] Result<Json> timeline(const protocol::TimelineParams& request, Progress& progress);
  [[nodiscard]] Result<Json> distribution(const DistributionRequest& request, Progress& progress);

  // Returns the recording that was activated last and is still open; nullptr when there is none.
  [[nodiscard]] std::shared_ptr<OpenRecording> active() const;
  // Returns the recordings whose figures the source shows, the active one first; none without an
  // active one.
  [[nodiscard]] std::vector<std::shared_ptr<OpenRecording>> shown() const;
  // Returns the baseline of the active recording; nullptr when there is none.
  [[nodiscard]] std::shared_ptr<OpenRecording> baseline() const;

  // Returns the report on a function of the active recording, as `ptlens report` prints it.
  [[nodiscard]] Result<std::string> report_text(const FunctionSelector& function) const;

  // Finishes a running recording, which keeps its data, and cancels all other work. Later requests
  // to open or record are refused.
  void stop();

private:
  class Running;

  [[nodiscard]] Result<Json> load(const OpenRequest& request, const PartialListener& partial,
                                  Progress& progress);
  [[nodiscard]] Result<Json> answer_from_cache(const std::string& id, Progress& progress,
                                               const std::function<Result<Json>()>& ask);
  [[nodiscard]] Result<std::shared_ptr<const waits::Waits>>
  waits_of(const OpenRecording& recording, const Progress& progress) const;
  [[nodiscard]] Result<void> reopen(const OpenRecording& damaged);
  [[nodiscard]] Result<Json> report_once(const ReportRequest& request, Progress& progress);
  struct LinesOfRecording {
    std::shared_ptr<OpenRecording> recording;
    std::shared_ptr<const measure::FileLines> lines;
  };
  [[nodiscard]] Result<LinesOfRecording> lines_of(const std::string& id,
                                                  const std::string& file) const;
  [[nodiscard]] Result<Json> lines_once(const std::string& id, const std::string& file);
  [[nodiscard]] Result<Json> line_time_once(const std::string& id, const std::string& file,
                                            Progress& progress);
  [[nodiscard]] Result<Json> ask(const std::string& id, Progress& progress,
                                 const std::function<Result<Json>(OpenRecording&)>& answer);
  [[nodiscard]] Result<std::shared_ptr<OpenRecording>> find(const std::string& id) const;
  [[nodiscard]] std::shared_ptr<OpenRecording> open_one(const std::string& id) const;

  const Host host_;
  mutable std::mutex mutex_; // guards all members below
  std::vector<std::shared_ptr<OpenRecording>> open_;
  std::vector<std::string> activated_; // ids, the last is active
  std::string baseline_;               // id
  std::vector<std::string> others_;    // ids, shown where the active one has no figures
  std::uint64_t last_id_ = 0;
  std::map<Progress*, bool> running_; // true: the work makes a recording
  bool stopping_ = false;
};

} // namespace ptlens::server
