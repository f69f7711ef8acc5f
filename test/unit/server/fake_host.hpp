// Replaces the rest of the helper: opens a measurement made by hand, and stops where a test asks
// for it.
#pragma once

#include "export/example.hpp"
#include "server/host/host.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

namespace ptlens::server {

// What a test sees and controls of the fake; shared with the server's threads.
struct FakeState {
  std::atomic<bool> hold_open = false;    // open() goes on only once this is false
  std::atomic<bool> hold_cleanup = false; // a cancelled record() as well
  std::atomic<bool> open_entered = false;
  std::atomic<bool> record_entered = false;
  std::atomic<bool> record_finished = false;  // ended by finish()
  std::atomic<bool> record_cancelled = false; // ended by cancel(), cleaned up
  std::atomic<int> opened = 0;
  std::atomic<int> forgotten = 0;
  std::string last_symfs;
  std::string last_bundled; // "path symfs output"
  record::Request last_request;
};

inline void wait_until(const std::atomic<bool>& flag, bool value) {
  while (flag != value) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

inline Error cancelled_error() {
  return {.kind = Error::Kind::cancelled, .message = "cancelled by the user"};
}

inline Host fake_host(const std::shared_ptr<FakeState>& state) {
  Host host;
  host.open =
      [state](const OpenRequest& request, const measure::Watch& watch,
              const Progress& progress) -> Result<std::shared_ptr<const measure::Measurement>> {
    state->last_symfs = request.symfs;
    if (watch.is_set()) {
      measure::PartialReport report;
      report.function.name = watch.selector.name;
      report.complete = 3;
      report.mean = 2.5;
      watch.listener(report);
    }
    state->open_entered = true;
    if (request.path == "/missing") {
      return std::unexpected(Error{.kind = Error::Kind::bad_input,
                                   .message = "not a recording",
                                   .file = "/missing/perf.data",
                                   .offset = 16,
                                   .remedy = "record again"});
    }
    if (request.path == "/throws") {
      throw std::runtime_error("out of luck");
    }
    if (request.path == "/waits") { // ends only when it is cancelled
      while (!progress.cancelled()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      return std::unexpected(cancelled_error());
    }
    progress.report({.stage = "reading", .done = 512, .total = 1024, .unit = "bytes"});
    progress.report({.stage = "decoding", .done = 256, .total = 1024, .unit = "bytes"});
    wait_until(state->hold_open, false);
    ++state->opened;
    auto measurement = exporting::example();
    measurement.recording.path = request.path;
    return std::make_shared<const measure::Measurement>(std::move(measurement));
  };
  host.cache_status = [state](const OpenRequest& request) -> Result<engine::CacheStatus> {
    if (request.path == "/missing") {
      return std::unexpected(
          Error{.kind = Error::Kind::not_found, .message = "No such file", .file = "/missing"});
    }
    engine::CacheStatus status;
    status.path = request.path + ".calls";
    status.recording_bytes = 500;
    status.exists = state->forgotten == 0;
    status.invalid = status.exists ? "" : "nothing is cached yet";
    status.bytes = status.exists ? 20 : 0;
    status.calls = status.exists ? 1 : 0;
    return status;
  };
  host.remove_cache = [state](const OpenRequest& request) -> Result<std::vector<std::string>> {
    ++state->forgotten;
    return std::vector{request.path + ".calls"};
  };
  host.bundle = [state](const OpenRequest& request, const std::string& output,
                        const Progress&) -> Result<engine::Bundle> {
    state->last_bundled = request.path + ' ' + request.symfs + ' ' + output;
    engine::Bundle bundle;
    bundle.path = output;
    bundle.bytes = 10;
    return bundle;
  };
  host.record = [state](const record::Request& request,
                        const Progress& progress) -> Result<record::Outcome> {
    state->last_request = request;
    state->record_entered = true;
    progress.report({.stage = "recording", .done = 1000, .total = 2000, .unit = "ms"});
    while (!progress.cancelled() && !progress.finish_asked()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (progress.cancelled()) {
      wait_until(state->hold_cleanup, false);
      state->record_cancelled = true;
      return std::unexpected(cancelled_error());
    }
    state->record_finished = true;
    return record::Outcome{.directory = request.output, .manifest = {}, .bytes = 1};
  };
  host.diagnose = [](const protocol::DoctorParams& request) {
    return record::Diagnosis{.backend = "none",
                             .findings = {{.id = "perf",
                                           .title = "perf",
                                           .state = record::Finding::State::missing,
                                           .detail = request.perf,
                                           .why = "",
                                           .remedy = ""}}};
  };
  host.processes = [](const std::string& source) {
    record::Process process;
    process.pid = 42;
    process.command = "app \xff";
    process.has_source = source == "/s/a.cpp";
    return std::vector{process};
  };
  host.functions_at = [](const protocol::FunctionAtParams& request) -> Result<FunctionsAt> {
    if (request.pid) {
      return std::unexpected(Error{.kind = Error::Kind::gone, .message = "process 1 has ended"});
    }
    if (request.line == 1) {
      return FunctionsAt{.candidates = {}, .message = "nothing there"};
    }
    FunctionOfBinary found{{.name = request.name,
                            .binary = "/bin/app",
                            .address = 0xffffffffff600000,
                            .file = request.file,
                            .line = static_cast<std::uint32_t>(request.line),
                            .end_line = 0},
                           "_Z1fv",
                           "abcd"};
    return FunctionsAt{.candidates = {std::move(found)}, .message = {}};
  };
  return host;
}

} // namespace ptlens::server
