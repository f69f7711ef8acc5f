// Reads the cost of probes from the manifest, for measure/report/probe_correction.hpp.
#pragma once

#include "measure/measurement.hpp"
#include "measure/report/probe_correction.hpp"
#include "measure/selection/selection.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace ptlens::engine {

// Returns the corrected latency of all calls of the functions. Nothing where the recording was not
// made with probes, or their cost was not measured.
[[nodiscard]] std::optional<measure::CorrectedLatency>
corrected_latency(const measure::Measurement& measurement,
                  std::span<const stacks::FunctionId> functions,
                  const measure::Selection& selection);

} // namespace ptlens::engine
