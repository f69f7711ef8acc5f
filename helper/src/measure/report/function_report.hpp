// The part of a Report that is about the function alone.
#pragma once

#include "measure/report/report.hpp"
#include "measure/statistics/statistics.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

// The same from figures that were taken elsewhere; `states`: calls by state.
[[nodiscard]] Report function_report(const Measurement& measurement, std::uint32_t function,
                                     const std::array<std::uint64_t, 3>& states,
                                     const Figures& figures, std::vector<Bucket> histogram);

[[nodiscard]] RelatedRow related_row(const Measurement& measurement, std::uint32_t function,
                                     std::uint32_t site, const Figures& figures);

// Most latency first.
void order_rows(std::vector<RelatedRow>& rows);

// Leaves out the threads without calls; most complete calls first.
void order_rows(std::vector<ThreadRow>& rows);

// Of a measurement with a store.
[[nodiscard]] Report report_of_store(const Measurement& measurement, std::uint32_t function,
                                     const Selection& selection);

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
