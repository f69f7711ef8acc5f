// The recordings that a client has open, and the answers about them. Knows nothing of JSON-RPC.
// May be used from several threads at once.
#pragma once

#include "server/host.hpp"
#include "server/methods/requests.hpp"
#include "server/open_recording.hpp"

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

  // Is given what is known so far of the function that was asked about, while a trace is decoded.
  using PartialListener = std::function<void(Json)>;

  // {recording} with the id of the recording that is now open and active.
  [[nodiscard]] Result<Json> open(const OpenRequest& request, const PartialListener& partial,
                                  Progress& progress);
  [[nodiscard]] Result<Json> record(const RecordRequest& request, const PartialListener& partial,
                                    Progress& progress);
  [[nodiscard]] Result<Json> close(const std::string& id);
  // Which of the open recordings lenses and hovers are of, and which they compare it with.
  [[nodiscard]] Result<Json> activate(const ActivateRequest& request);
  // What is kept of a recording, open or not; removes it first where that is asked for.
  [[nodiscard]] Result<Json> store(const StoreRequest& request);

  // {path, bytes, files, missing} of the bundle that was made.
  [[nodiscard]] Result<Json> bundle(const BundleRequest& request, Progress& progress);

  [[nodiscard]] Result<Json> functions(const std::string& id);
  [[nodiscard]] Result<Json> report(const ReportRequest& request, Progress& progress);
  [[nodiscard]] Result<Json> lines(const LinesRequest& request, Progress& progress);
  // {file, line_time}: measured by a pass of its own, and remembered.
  [[nodiscard]] Result<Json> line_time(const LinesRequest& request, Progress& progress);
  [[nodiscard]] Result<Json> flame(const FlameRequest& request, Progress& progress);
  [[nodiscard]] Result<Json> calls(const CallsRequest& request, Progress& progress);

  // The one activated last of those still open; nullptr when none is.
  [[nodiscard]] std::shared_ptr<OpenRecording> active() const;
  // What the active one is compared with; nullptr: nothing.
  [[nodiscard]] std::shared_ptr<OpenRecording> baseline() const;

  // The report on a function of the active recording as `ptlens report` prints it.
  [[nodiscard]] Result<std::string> report_text(const FunctionSelector& function) const;

  // Ends what runs: a recording keeps what it has, all else is cancelled. Later requests to open or
  // record are refused.
  void stop();

private:
  class Running;

  [[nodiscard]] Result<Json> load(const OpenRequest& request, const PartialListener& partial,
                                  Progress& progress);
  [[nodiscard]] Result<Json> whole(const std::string& id, Progress& progress,
                                   const std::function<Result<Json>()>& ask);
  [[nodiscard]] Result<void> renew(const OpenRecording& damaged);
  [[nodiscard]] Result<Json> report_once(const ReportRequest& request, Progress& progress);
  [[nodiscard]] Result<Json> lines_once(const LinesRequest& request);
  [[nodiscard]] Result<Json> line_time_once(const LinesRequest& request, Progress& progress);
  [[nodiscard]] Result<Json> flame_once(const FlameRequest& request);
  [[nodiscard]] Result<Json> calls_once(const CallsRequest& request);
  [[nodiscard]] Result<std::shared_ptr<OpenRecording>> find(const std::string& id) const;
  [[nodiscard]] std::shared_ptr<OpenRecording> open_one(const std::string& id) const;

  const Host host_;
  mutable std::mutex mutex_; // guards what follows
  std::vector<std::shared_ptr<OpenRecording>> open_;
  std::vector<std::string> activated_; // ids, the last is active
  std::string baseline_;               // id
  std::uint64_t last_id_ = 0;
  std::map<Progress*, bool> running_; // true: there is a recording to be kept
  bool stopping_ = false;
};

} // namespace ptlens::server
