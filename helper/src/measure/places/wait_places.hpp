// Where a thread waited, in terms of the source: by the user's stack of the wait, or, where that is
// not known, by the innermost call that was measured.
#pragma once

#include "measure/measurement.hpp"
#include "measure/places/innermost_calls.hpp"
#include "measure/places/source_place.hpp"
#include "waits/waits.hpp"

#include <compare>
#include <string>
#include <string_view>

namespace ptlens::measure {

// Why a thread waited; `likely`: inferred from the function that was called.
struct WaitCause {
  waits::Reason reason = waits::Reason::unknown;
  bool likely = false;

  auto operator<=>(const WaitCause&) const = default;
};
// Returns why the thread waited. `innermost`: the function of the innermost call that was measured.
[[nodiscard]] WaitCause cause_of(const waits::Waits& waits, const waits::Wait& wait,
                                 std::string_view innermost);

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
