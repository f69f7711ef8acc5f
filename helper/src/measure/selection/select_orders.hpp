// The calls that a selection admits, as a set of their places in the store.
#pragma once

#include "cache/order_set.hpp"
#include "measure/measurement.hpp"
#include "measure/selection/selection.hpp"

#include <cstdint>

namespace ptlens::measure {

// Calls of `function`, whatever their state. The measurement has a store.
[[nodiscard]] cache::OrderSet select_orders(const Measurement& measurement, std::uint32_t function,
                                            const Selection& selection);

} // namespace ptlens::measure
