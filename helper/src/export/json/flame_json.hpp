// Flame graphs as JSON. All lists are flat, because a nested tree of calls would break parsers that
// limit the depth.
#pragma once

#include "export/json/json_text.hpp"
#include "measure/flame/flame.hpp"
#include "measure/measurement.hpp"

namespace ptlens::exporting {

// Returns the nodes as columns. A node's function is an index into `functions`; -1 for the root.
[[nodiscard]] Json flame_json(const measure::Measurement& measurement,
                              const measure::FlameTree& tree, measure::FlameTime time);

} // namespace ptlens::exporting
