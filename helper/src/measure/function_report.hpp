// The part of a Report that is about the function alone.
#pragma once

#include "measure/report.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

// Those of `calls` that are complete, in their order.
[[nodiscard]] std::vector<std::uint32_t> complete_calls(const stacks::CallTable& table,
                                                        std::span<const std::uint32_t> calls);

// Report of `function` from its calls, without callers, children and threads. `complete` are the
// complete ones among `calls`; `covered` as covered_calls gives it for them.
[[nodiscard]] Report function_report(const Measurement& measurement, const stacks::CallTable& table,
                                     std::uint32_t function, std::span<const std::uint32_t> calls,
                                     std::span<const std::uint32_t> complete,
                                     const std::vector<std::uint8_t>& covered);

} // namespace ptlens::measure
