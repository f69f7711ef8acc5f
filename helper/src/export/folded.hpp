// Folded stacks, the input of flamegraph.pl, speedscope and others: "a;b;c VALUE" per line, where
// VALUE is the self time of the stack in ns. Stacks without self time are left out. In names ';'
// becomes ':' and control characters become spaces.
#pragma once

#include "measure/flame/flame.hpp"
#include "measure/measurement.hpp"

#include <ostream>

namespace ptlens::exporting {

void write_folded(std::ostream& out, const measure::Measurement& measurement,
                  const measure::FlameTree& tree);

} // namespace ptlens::exporting
