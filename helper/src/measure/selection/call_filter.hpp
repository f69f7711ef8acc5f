// A Selection, worked out for one recording.
#pragma once

#include "measure/measurement.hpp"
#include "measure/selection/selection.hpp"

#include <cstdint>
#include <vector>

namespace ptlens::measure {

// True when the selection leaves nothing out.
[[nodiscard]] bool admits_all(const Selection& selection);

class CallFilter {
public:
  // Of calls of the measurement: those between the ones asked about and their ancestors must be
  // among them. Refers to all for as long as it lives.
  CallFilter(const Measurement& measurement, const stacks::CallTable& calls,
             const Selection& selection);

  [[nodiscard]] bool admits(std::size_t call) const;

private:
  void find_ancestors();

  const Measurement& measurement_;
  const stacks::CallTable& calls_;
  const Selection& selection_;
  std::uint64_t origin_;
  std::vector<std::uint8_t>
      below_; // 1: some caller is the ancestor asked for; empty: none is asked
};

} // namespace ptlens::measure
