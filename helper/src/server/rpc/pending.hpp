// One request that has not been answered yet. Whoever comes first answers it: the worker that has
// the result, or the client's cancellation; what comes later is dropped.
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
    bool records = false;   // begins with a stage "recording"
    bool cleans_up = false; // when cancelled: the worker answers, once it has cleaned up
  };

  Pending(Output& output, Json id, Options options);

  // Shows progress from here on when the client gave a token.
  void begin();

  // False when it had been answered already.
  bool answer(Answer answer);

  // What is known so far; sent while progress is shown.
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
  std::mutex mutex_; // guards what follows, and the order of messages about this request
  ProgressValue progress_values_;
  bool began_ = false;
  std::atomic<bool> answered_ = false;
};

// How a request ends that the client cancelled.
[[nodiscard]] Fault cancelled_fault();

} // namespace ptlens::server
