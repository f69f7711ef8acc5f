// Where a thread waited, in terms of the source: by the user's stack of the wait, or, where that is
// not known, by the innermost call that was measured.
#pragma once

#include "measure/measurement.hpp"
#include "measure/places/source_place.hpp"
#include "waits/waits.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ptlens::measure {

// Finds the innermost call of a table at a time.
class InnermostCalls {
public:
  // Takes a table in the order of CallTable, which must outlive the object.
  InnermostCalls(const Measurement& measurement, const stacks::CallTable& calls);

  static constexpr std::uint32_t none = UINT32_MAX;
  // Returns the innermost call that contains the time; none where there is none.
  [[nodiscard]] std::uint32_t at(std::int32_t tid, std::uint64_t time_ns) const;

private:
  const Measurement& measurement_;
  const stacks::CallTable& calls_;
  std::vector<std::uint32_t> first_of_thread_; // rows; one more than there are threads
};

struct Placed {
  waits::Reason reason = waits::Reason::unknown;
  bool likely = false;
  waits::LockKind lock = waits::LockKind::none;
  SourcePlace place = {};
  std::string called = {};
};

// Returns the place and the reason of the wait. `calls`: null where calls are not known.
[[nodiscard]] Placed place_of(const Measurement& measurement, const waits::Waits& waits,
                              const waits::Wait& wait, const InnermostCalls* innermost,
                              const stacks::CallTable* calls);

[[nodiscard]] SourcePlace place_of(const waits::Waits& waits, stacks::SiteId site);

} // namespace ptlens::measure
