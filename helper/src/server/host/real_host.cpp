// The functions of the helper that the server uses.
#include "engine/cache/cache_status.hpp"
#include "engine/engine.hpp"
#include "engine/recording/copied_binaries.hpp"
#include "engine/recording/reading_ahead.hpp"
#include "engine/waits/recorded_waits.hpp"
#include "server/host/functions_at.hpp"
#include "server/host/host.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace ptlens::server {

namespace {

engine::OpenOptions options_of(const OpenRequest& request) {
  return {.symfs = request.symfs,
          .kallsyms = request.kallsyms,
          .kcore = request.kcore,
          .source_map = request.source_map,
          .pid = request.pid,
          .inlined_names = true,
          .use_cache = true};
}

// Makes recordings, and keeps what was read of them meanwhile until they are opened.
class Recorder {
public:
  Result<record::Outcome> record(const record::Request& request, const Progress& progress) {
    engine::ReadingAhead ahead(progress.behind());
    auto outcome = record::record(request, progress, &ahead);
    if (outcome) {
      engine::keep_binaries(outcome->directory);
      const std::lock_guard lock(mutex_);
      read_[outcome->directory] = ahead.take();
    }
    return outcome;
  }

  // Returns nothing read for other recordings, and where it was taken before.
  engine::ReadSoFar take_read(const std::string& recording) {
    const std::lock_guard lock(mutex_);
    auto found = read_.extract(recording);
    return found.empty() ? engine::ReadSoFar{} : std::move(found.mapped());
  }

private:
  std::mutex mutex_;
  std::map<std::string, engine::ReadSoFar> read_; // by folder
};

} // namespace

Host real_host() {
  const auto recorder = std::make_shared<Recorder>();
  return {.open =
              [recorder](const OpenRequest& request, const measure::Watch& watch,
                         const Progress& progress) {
                engine::OpenOptions options = options_of(request);
                options.watch = watch;
                engine::ReadSoFar read = recorder->take_read(request.path);
                options.read = std::move(read.binaries);
                options.ahead = std::move(read.trace);
                return engine::open(request.path, options, progress);
              },
          .inlined =
              [](const OpenRequest& request, const std::string& name, const std::string& binary,
                 const Progress& progress) {
                return engine::inlined(request.path, options_of(request), name, binary, progress);
              },
          .line_times =
              [](const OpenRequest& request, const std::vector<stacks::FunctionInfo>& functions,
                 const Progress& progress) {
                return engine::line_times(request.path, options_of(request), functions, progress);
              },
          .waits =
              [](const OpenRequest& request, const Progress& progress) {
                return engine::recorded_waits(request.path, options_of(request), progress);
              },
          .parting =
              [](const OpenRequest& request, const measure::Measurement& measurement,
                 const measure::Timeline& timeline, const Progress& progress) {
                return engine::parting(request.path, options_of(request), measurement, timeline,
                                       progress);
              },
          .cache_status =
              [](const OpenRequest& request) {
                return engine::cache_status(request.path, options_of(request));
              },
          .remove_cache =
              [](const OpenRequest& request) { return engine::remove_caches(request.path); },
          .sources =
              [](const OpenRequest& request, const measure::Measurement& measurement) {
                return source::measured_sources(request.path, measurement);
              },
          .record =
              [recorder](const record::Request& request, const Progress& progress) {
                return recorder->record(request, progress);
              },
          .diagnose =
              [](const protocol::DoctorParams& request) {
                return record::diagnose({.perf = request.perf, .binary = request.binary});
              },
          .processes = record::processes,
          .threads = record::threads,
          .bundle =
              [](const OpenRequest& request, const std::string& output, const Progress& progress) {
                return engine::make_bundle(request.path, options_of(request), output, progress);
              },
          .functions_at = functions_at};
}

} // namespace ptlens::server
