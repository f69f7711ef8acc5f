// Commands about this machine: doctor and record.
#include "cli/commands.hpp"
#include "engine/engine.hpp"
#include "export/json.hpp"
#include "export/text.hpp"
#include "export/units.hpp"
#include "record/doctor.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <iostream>
#include <thread>

namespace ptlens::cli {
namespace {

// Set by SIGINT and SIGTERM: stop the recording and keep it.
volatile std::sig_atomic_t stop_asked = 0;

void ask_stop(int /*signal*/) {
  stop_asked = 1;
}

// Carries the signals, which may only set a flag, to the recording.
class StopOnSignal {
public:
  explicit StopOnSignal(Progress& progress)
      : watcher_([this, &progress] {
          while (!done_.load()) {
            if (stop_asked != 0) {
              progress.finish();
              return;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
          }
        }) {
    struct sigaction action = {};
    action.sa_handler = ask_stop;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  StopOnSignal(StopOnSignal&&) = delete;
  StopOnSignal& operator=(StopOnSignal&&) = delete;
  ~StopOnSignal() {
    done_.store(true);
    watcher_.join();
  }

private:
  std::atomic<bool> done_ = false;
  std::thread watcher_;
};

} // namespace

Result<void> doctor(const DoctorOptions& options) {
  const record::Diagnosis diagnosis =
      record::diagnose({.perf = options.perf, .binary = options.binary, .folder = options.folder});
  if (options.json) {
    std::cout << exporting::dump(exporting::doctor_json(diagnosis)) << '\n';
  } else {
    std::cout << exporting::doctor_text(diagnosis);
  }
  return {};
}

Result<void> record_command(const RecordOptions& options) {
  Progress progress;
  const StopOnSignal stop(progress);
  auto outcome = record::record(options.request, progress);
  if (!outcome) {
    return std::unexpected(outcome.error());
  }
  if (options.json) {
    exporting::Json json;
    json["path"] = outcome->directory;
    json["backend"] = outcome->manifest.backend;
    json["bytes"] = outcome->bytes;
    json["notes"] = outcome->manifest.notes;
    std::cout << exporting::dump(json) << '\n';
    return {};
  }
  std::cout << fmt::format("recorded {} with {} into {}\n", exporting::bytes(outcome->bytes),
                           outcome->manifest.backend, outcome->directory);
  for (const std::string& note : outcome->manifest.notes) {
    std::cout << fmt::format("  {}\n", exporting::printable(note));
  }
  return {};
}

} // namespace ptlens::cli
