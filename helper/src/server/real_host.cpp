// The rest of the helper, as the server sees it.
#include "engine/engine.hpp"
#include "engine/store_status.hpp"
#include "server/functions_at.hpp"
#include "server/host.hpp"

namespace ptlens::server {

namespace {

engine::OpenOptions options_of(const OpenRequest& request) {
  return {.symfs = request.symfs,
          .kallsyms = request.kallsyms,
          .kcore = request.kcore,
          .pid = request.pid,
          .inlined_names = true,
          .keep = true};
}

} // namespace

Host real_host() {
  return {.open =
              [](const OpenRequest& request, const Progress& progress) {
                return engine::open(request.path, options_of(request), progress);
              },
          .inlined =
              [](const OpenRequest& request, const std::string& name, const std::string& binary,
                 const Progress& progress) {
                return engine::inlined(request.path, options_of(request), name, binary, progress);
              },
          .forget = [](const OpenRequest& request) { (void)engine::forget_stores(request.path); },
          .record = record::record,
          .diagnose =
              [](const DoctorRequest& request) {
                return record::diagnose({.perf = request.perf, .binary = request.binary});
              },
          .processes = record::processes,
          .functions_at = functions_at};
}

} // namespace ptlens::server
