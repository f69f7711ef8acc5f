// The rules of staleness.
#include "source/staleness.hpp"

namespace ptlens::source {

Staleness staleness_of_file(bool known, bool shown, bool equal, bool newer) {
  if (!known) {
    return newer ? Staleness::newer : Staleness::unknown;
  }
  if (!shown) {
    return Staleness::unknown;
  }
  return equal ? Staleness::current : Staleness::edited;
}

Staleness staleness_of(Staleness file, bool edited, bool rebuilt) {
  if (rebuilt) {
    return Staleness::rebuilt;
  }
  if (edited) {
    return Staleness::edited;
  }
  return file == Staleness::edited ? Staleness::file_edited : file;
}

const char* name_of(Staleness staleness) {
  switch (staleness) {
  case Staleness::current:
    return "current";
  case Staleness::file_edited:
    return "file_edited";
  case Staleness::newer:
    return "newer";
  case Staleness::edited:
    return "edited";
  case Staleness::rebuilt:
    return "rebuilt";
  case Staleness::unknown:
    break;
  }
  return "unknown";
}

} // namespace ptlens::source
