// The report of a function that was called, inlined, or both.
#pragma once

#include "base/error.hpp"
#include "measure/measurement.hpp"
#include "measure/report/inlined.hpp"
#include "measure/report/report.hpp"
#include "measure/selection/selection.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace ptlens::engine {

using SharedInlined = std::shared_ptr<const measure::InlinedMeasurement>;
// Measures the inlined functions of that name, in that binary where it is not empty; null where
// there are none.
using MeasureInlined =
    std::function<Result<SharedInlined>(const std::string& name, const std::string& binary)>;

struct FunctionReport {
  measure::Report report = {};
  std::optional<measure::InlinedPart> inlined = {}; // nothing: not requested, or inlined nowhere
  SharedInlined measured = {};                      // the measurement of the rows

  // Returns the measurement to which the report's indices refer.
  [[nodiscard]] const measure::Measurement& source(const measure::Measurement& calls) const {
    return inlined && !inlined->called ? measured->measurement : calls;
  }
};

// Reports the function of that name. Errors: those of measure::find_function, where the name was
// not inlined either.
[[nodiscard]] Result<FunctionReport> report(const measure::Measurement& measurement,
                                            const std::string& name, const std::string& binary,
                                            const measure::Selection& selection,
                                            const MeasureInlined& measure_inlined);

// Reports a function that was called, by its index.
[[nodiscard]] Result<FunctionReport> report(const measure::Measurement& measurement,
                                            stacks::FunctionId function,
                                            const measure::Selection& selection,
                                            const MeasureInlined& measure_inlined);

} // namespace ptlens::engine
