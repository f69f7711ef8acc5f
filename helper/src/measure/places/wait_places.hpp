// Where a thread waited, in terms of the source: by the user's stack of the wait, or, where that is
// not known, by the innermost call that was measured.
#pragma once

#include "measure/measurement.hpp"
#include "measure/places/innermost_calls.hpp"
#include "measure/places/source_place.hpp"
#include "waits/waits.hpp"

#include <string>

namespace ptlens::measure {

struct Placed {
  waits::Reason reason = waits::Reason::unknown;
  bool likely = false;
  waits::LockKind lock = waits::LockKind::none;
  SourcePlace place = {};
  std::string called = {};
};

// Returns the place and the reason of the wait. `innermost`: the calls at the begin of waits; null
// where calls are not known.
[[nodiscard]] Placed place_of(const Measurement& measurement, const waits::Waits& waits,
                              const waits::Wait& wait, const InnermostCalls* innermost);

[[nodiscard]] SourcePlace place_of(const waits::Waits& waits, stacks::SiteId site);

} // namespace ptlens::measure
