// The functions of the helper that the server uses.
#include "engine/cache/cache_status.hpp"
#include "engine/engine.hpp"
#include "engine/recording/copied_binaries.hpp"
#include "engine/waits/recorded_waits.hpp"
#include "server/host/functions_at.hpp"
#include "server/host/host.hpp"

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

} // namespace

Host real_host() {
  return {
      .open =
          [](const OpenRequest& request, const measure::Watch& watch, const Progress& progress) {
            engine::OpenOptions options = options_of(request);
            options.watch = watch;
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
      .record = [](const record::Request& request,
                   const Progress& progress) -> Result<record::Outcome> {
        auto outcome = record::record(request, progress);
        if (outcome) {
          engine::keep_binaries(outcome->directory);
        }
        return outcome;
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
