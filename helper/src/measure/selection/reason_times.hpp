// How long calls waited for a reason that the recorded waits have, as `ptlens waits` names it.
#pragma once

#include "measure/measurement.hpp"
#include "measure/selection/selection.hpp"
#include "waits/waits.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

class ReasonTimes {
public:
  // `functions`: whose calls will be asked about. check_selection() accepted a selection by such a
  // reason. The measurement must outlive the object.
  ReasonTimes(const Measurement& measurement, std::span<const stacks::FunctionId> functions);

  // Reads how long each call of the block, with the calls that it made, waited for the reason, in
  // ns. `out` has the size entry.calls.
  void read(const cache::Block& block, const cache::BlockEntry& entry, waits::Reason reason,
            std::span<std::uint64_t> out) const;

private:
  const Measurement& measurement_;
  const waits::Waits* waits_ = nullptr; // null: none are known
  std::vector<waits::Reason> reasons_;  // by the wait's index
};

} // namespace ptlens::measure
