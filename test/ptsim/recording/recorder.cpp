// Lost records in file and truth.
#include "recording/recorder.hpp"

#include <fmt/ostream.h>

namespace ptlens::ptsim {

bool Recorder::loses_record(const Stamp& stamp, const char* what) const {
  if (stamp.time == 0 || !faults->record_is_lost()) {
    return false;
  }
  file->lost(stamp, 1);
  fmt::print(*truth, "{{\"lost_record\":\"{}\",\"time\":{},\"tid\":{}}}\n", what, stamp.time,
             stamp.task.tid);
  return true;
}

} // namespace ptlens::ptsim
