// Reports of progress from a long task, and requests to it to stop.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace ptlens {

struct ProgressReport {
  std::string stage;        // "recording", "reading", "decoding", ...
  std::uint64_t done = 0;   // in unit
  std::uint64_t total = 0;  // in unit, 0 where unknown
  std::string unit;         // "bytes", "ms"
  std::uint64_t behind = 0; // bytes that wait for work that goes on beside the stage
};

// Shared by the requester and the worker. Any thread may call `cancel`; the worker checks
// `cancelled` at least every 50 ms and then ends with Error::Kind::cancelled. `finish` asks the
// worker to end early and keep its result: a recording stops and is shown.
class Progress {
public:
  using Listener = std::function<void(const ProgressReport&)>;

  Progress() = default;
  explicit Progress(Listener listener) : listener_(std::move(listener)) {}

  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  void finish() { finish_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool finish_asked() const { return finish_.load(std::memory_order_relaxed); }

  // Asks a recording that keeps only the end of its trace to save it and continue.
  void snapshot() { snapshots_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] unsigned snapshots_asked() const {
    return snapshots_.load(std::memory_order_relaxed);
  }

  // The work beside the stage may store here how far it is behind.
  [[nodiscard]] const std::shared_ptr<std::atomic<std::uint64_t>>& behind() const {
    return behind_;
  }

  void report(ProgressReport report) const {
    if (listener_) {
      report.behind = behind_->load(std::memory_order_relaxed);
      listener_(report);
    }
  }

private:
  Listener listener_;
  std::atomic<bool> cancelled_ = false;
  std::atomic<bool> finish_ = false;
  std::atomic<unsigned> snapshots_ = 0;
  std::shared_ptr<std::atomic<std::uint64_t>> behind_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);
};

} // namespace ptlens
