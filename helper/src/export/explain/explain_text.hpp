// An explanation for a terminal: the answer, the bridge from typical to slow calls in characters,
// kinds of slow calls, and the shares of the variance.
#pragma once

#include "measure/explain/explanation.hpp"

#include <string>

namespace ptlens::exporting {

[[nodiscard]] std::string explain_text(const measure::Measurement& measurement,
                                       const measure::Explanation& explanation);

} // namespace ptlens::exporting
