// Which function a line's call ended in, where the function called jumped to another one.
#pragma once

#include "measure/lines/lines.hpp"
#include "measure/measurement.hpp"

#include <string>

namespace ptlens::exporting {

// Returns "→ add_tax (tail call)" where the line jumps to the callee, "price → add_tax (tail call)"
// where the callee jumped to another function, which returned in its place; else empty.
[[nodiscard]] std::string tail_call_text(const measure::Measurement& measurement,
                                         const measure::LineCallee& callee);

} // namespace ptlens::exporting
