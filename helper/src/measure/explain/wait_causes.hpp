// What slow calls waited for, and who ended it: added to the parts of an explanation that end in a
// wait.
#pragma once

#include "measure/explain/explanation.hpp"
#include "measure/measurement.hpp"
#include "measure/selection/selection.hpp"
#include "waits/waits.hpp"

namespace ptlens::measure {

// Returns whether a component's path ends in a wait.
[[nodiscard]] bool ends_in_wait(const Explanation& explanation);

// Sets Component::wait where more than half of the waiting that ends the component's path is one
// reason at one place. `selection`: the one that was explained.
void name_waits(const Measurement& measurement, const waits::Waits& waits,
                const Selection& selection, Explanation& explanation);

} // namespace ptlens::measure
