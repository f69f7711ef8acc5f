// One request without an answer yet.
#include "server/rpc/pending.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace ptlens::server {

Fault cancelled_fault() {
  return fault_of({.kind = Error::Kind::cancelled, .message = "cancelled"});
}

Pending::Pending(Output& output, Json id, Options options)
    : output_(output), id_(std::move(id)), options_(std::move(options)),
      progress_([this](const ProgressReport& report) { this->report(report); }),
      progress_values_(options_.records) {}

void Pending::begin() {
  const std::lock_guard lock(mutex_);
  if (options_.token.is_null() || answered_ || began_) {
    return;
  }
  began_ = true;
  send_progress({{"kind", "begin"}, {"title", options_.title}, {"cancellable", true}});
}

void Pending::report(const ProgressReport& report) {
  const std::lock_guard lock(mutex_);
  if (!began_ || answered_) {
    return;
  }
  if (auto value = progress_values_.next(report, std::chrono::steady_clock::now())) {
    send_progress(std::move(*value));
  }
}

void Pending::send_partial(Json report) {
  const std::lock_guard lock(mutex_);
  if (began_ && !answered_) {
    output_.send(
        notification("ptlens/partial", {{"token", options_.token}, {"report", std::move(report)}}));
  }
}

bool Pending::answer(Answer answer) {
  const std::lock_guard lock(mutex_);
  if (answered_.exchange(true)) {
    return false;
  }
  if (began_) {
    send_progress({{"kind", "end"}});
  }
  output_.send(answer ? result_message(id_, std::move(*answer))
                      : fault_message(id_, answer.error()));
  return true;
}

void Pending::cancel() {
  progress_.cancel();
  if (!options_.cleans_up) {
    answer(std::unexpected(cancelled_fault()));
  }
}

void Pending::send_progress(Json value) {
  output_.send(
      notification("$/progress", {{"token", options_.token}, {"value", std::move(value)}}));
}

} // namespace ptlens::server
