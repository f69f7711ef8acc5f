// The innermost calls at points of time at which their threads were off the CPU, found on all
// cores.
#pragma once

#include "cache/reading/call_cache.hpp"
#include "cache/reading/call_rows.hpp"
#include "measure/measurement.hpp"

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

struct ThreadTime {
  std::int32_t tid = -1;
  std::uint64_t time_ns = 0;

  auto operator<=>(const ThreadTime&) const = default;
};

class InnermostCalls {
public:
  // Looks among the calls on these edges that were off the CPU, and among all calls on them for a
  // point that is in none of those. `points` may be in any order.
  InnermostCalls(const Measurement& measurement, std::span<const cache::EdgeId> edges,
                 std::vector<ThreadTime> points);

  static constexpr std::uint32_t none = UINT32_MAX;
  // Returns the row of the innermost call that contains the point, which must be one of those
  // given; none where no call contains it.
  [[nodiscard]] std::uint32_t at(ThreadTime point) const;
  // Returns the calls that were found, without their parents.
  [[nodiscard]] const stacks::CallTable& calls() const { return calls_.calls; }

private:
  std::vector<ThreadTime> points_;  // ascending
  std::vector<std::uint32_t> rows_; // by point
  cache::CallRows calls_;
};

} // namespace ptlens::measure
