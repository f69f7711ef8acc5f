// The rest of the helper, as the server sees it.
#include "engine/engine.hpp"
#include "server/functions_at.hpp"
#include "server/host.hpp"

namespace ptlens::server {

Host real_host() {
  return {.open =
              [](const OpenRequest& request, const Progress& progress) {
                return engine::open(request.path, {.symfs = request.symfs}, progress);
              },
          .record = record::record,
          .diagnose =
              [](const DoctorRequest& request) {
                return record::diagnose(request.perf, request.binary);
              },
          .processes = record::processes,
          .functions_at = functions_at};
}

} // namespace ptlens::server
