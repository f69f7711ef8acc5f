// A time line, drawn with characters.
#pragma once

#include "measure/measurement.hpp"
#include "measure/timeline/timeline.hpp"

#include <string>

namespace ptlens::exporting {

[[nodiscard]] std::string timeline_text(const measure::Measurement& measurement,
                                        const measure::Timeline& timeline);

} // namespace ptlens::exporting
