// One request without an answer yet. Either the worker that has the result or the client's
// cancellation answers it, whichever comes first; later answers are dropped.
#pragma once

#include "base/progress.hpp"
#include "server/rpc/json_rpc.hpp"
#include "server/rpc/output.hpp"
#include "server/rpc/progress_value.hpp"

#include <atomic>
#include <mutex>
#include <string>

namespace ptlens::server {

class Pending {
public:
  struct Options {
    Json token = nullptr;   // workDoneToken, null: no progress is shown
    std::string title = {}; // of the progress
    bool records = false;   // its first stage is "recording"
    bool cleans_up =
        false; // a cancelled request is answered by its worker, after it has cleaned up
  };

  Pending(Output& output, Json id, Options options);

  // Reports progress from now on when the client gave a token.
  void begin();

  // Answers the request. Returns false when it was answered before.
  bool answer(Answer answer);

  // Sends a partial report while progress is reported.
  void send_partial(Json report);

  void cancel();

  [[nodiscard]] bool answered() const { return answered_.load(); }
  [[nodiscard]] Progress& progress() { return progress_; }
  [[nodiscard]] const Json& id() const { return id_; }
  [[nodiscard]] const Json& token() const { return options_.token; }
  [[nodiscard]] bool records() const { return options_.records; }

private:
  void report(const ProgressReport& report);
  void send_progress(Json value);

  Output& output_;
  const Json id_;
  const Options options_;
  Progress progress_;
  std::mutex mutex_; // guards the members below and the order of messages about this request
  ProgressValue progress_values_;
  bool began_ = false;
  std::atomic<bool> answered_ = false;
};

// Returns the error of a cancelled request.
[[nodiscard]] Fault cancelled_fault();

} // namespace ptlens::server
