// `ptlens doctor` and `ptlens record`.
#include "cli/commands.hpp"
#include "engine/engine.hpp"
#include "engine/recording/copied_binaries.hpp"
#include "export/json/json_text.hpp"
#include "export/json/machine_json.hpp"
#include "export/json/recording_json.hpp"
#include "export/text/text.hpp"
#include "export/text/units.hpp"
#include "record/machine/doctor.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <iostream>
#include <thread>

namespace ptlens::cli {
namespace {

// Set by SIGINT and SIGTERM: end the recording and keep it.
volatile std::sig_atomic_t stop_asked = 0;

void ask_stop(int /*signal*/) {
  stop_asked = 1;
}

// The number of SIGUSR2: each saves a snapshot.
volatile std::sig_atomic_t snapshots_asked = 0;

void ask_snapshot(int /*signal*/) {
  snapshots_asked = snapshots_asked + 1;
}

// Passes the signals to the recording. A signal handler may only set a flag.
class StopOnSignal {
public:
  explicit StopOnSignal(Progress& progress)
      : watcher_([this, &progress] {
          for (int passed_on = 0; !done_.load();) {
            if (passed_on != snapshots_asked) {
              ++passed_on;
              progress.snapshot();
            }
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
    action.sa_handler = ask_snapshot;
    sigaction(SIGUSR2, &action, nullptr);
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

std::string functions_text(const std::string& names) {
  if (names.empty()) {
    return {};
  }
  return fmt::format(", {} {}", names.contains(", ") ? "functions" : "function",
                     exporting::printable(names));
}

std::string summary_text(const record::Manifest& manifest, const record::Summary& summary) {
  const std::string asked = summary.asked_s > 0
                                ? exporting::duration(summary.asked_s * exporting::ns_per_s)
                                : "until it ends";
  const std::string what = summary.hits == 0 ? exporting::bytes(summary.traced_bytes) + " of trace"
                                             : exporting::count(summary.hits) + " probe hits";
  std::string text =
      fmt::format("  asked:  {} of {}{}\n  traced: {} of {}, {} {}\n", asked,
                  exporting::printable(summary.target), functions_text(manifest.function),
                  exporting::duration(summary.traced_s * exporting::ns_per_s), what,
                  summary.threads, summary.threads == 1 ? "thread" : "threads");
  if (summary.truncated != 0 || summary.lost_records != 0) {
    text +=
        fmt::format("  lost:   trace buffer full {} times, {} perf records dropped\n",
                    exporting::count(summary.truncated), exporting::count(summary.lost_records));
  } else {
    text += "  lost:   nothing while recording\n";
  }
  for (const std::string& line : summary.advice) {
    text += fmt::format("  to change: {}\n", exporting::printable(line));
  }
  return text;
}

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
  record::Request request = options.request;
  if (request.output.empty()) {
    request.output = record::new_folder_name();
  }
  auto outcome = record::record(request, progress);
  if (!outcome) {
    return std::unexpected(outcome.error());
  }
  engine::keep_binaries(outcome->directory);
  const record::Summary& summary = outcome->summary;
  if (options.json) {
    exporting::Json json;
    json["path"] = outcome->directory;
    json["backend"] = outcome->manifest.backend;
    json["bytes"] = outcome->bytes;
    json["asked"] = {{"target", summary.target},
                     {"function", outcome->manifest.function},
                     {"seconds", summary.asked_s},
                     {"command", outcome->manifest.perf_command}};
    json["traced"] = {{"seconds", summary.traced_s},
                      {"bytes", summary.traced_bytes},
                      {"hits", summary.hits},
                      {"threads", summary.threads}};
    json["lost"] = {{"truncated", summary.truncated}, {"records", summary.lost_records}};
    json["advice"] = summary.advice;
    json["notes"] = exporting::Json::array();
    for (const Note& note : outcome->manifest.notes) {
      json["notes"].push_back(exporting::note_json(note));
    }
    std::cout << exporting::dump(json) << '\n';
    return {};
  }
  std::cout << fmt::format("recorded {} with {} into {}\n", exporting::bytes(outcome->bytes),
                           outcome->manifest.backend, outcome->directory);
  std::cout << summary_text(outcome->manifest, summary);
  for (const Note& note : outcome->manifest.notes) {
    std::cout << fmt::format("  {}\n", exporting::printable(note.text));
  }
  return {};
}

} // namespace ptlens::cli
