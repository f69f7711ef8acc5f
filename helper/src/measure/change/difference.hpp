// Compares the calls of a function, or of a line, in some recordings with those in others.
#pragma once

#include "cache/reading/call_cache.hpp"
#include "measure/change/change.hpp"
#include "measure/measurement.hpp"

#include <span>

namespace ptlens::measure {

// Returns the calls of the edges in one recording, whose figures are `latency`. `several`: the
// recording is one of several on its side, and keeps all latencies.
[[nodiscard]] RunOfCalls run_of_calls(const Measurement& measurement,
                                      std::span<const cache::EdgeId> edges,
                                      const LatencyStats& latency, bool several = false);

// Returns the intervals of the differences. A difference counts when its interval does not contain
// 0; every interval is at least as wide as the uncertainties of both sides together. `timed`: all
// recordings have timing.
[[nodiscard]] Difference difference(std::span<const RunOfCalls> base,
                                    std::span<const RunOfCalls> now, bool timed);
[[nodiscard]] Difference difference(const RunOfCalls& base, const RunOfCalls& now, bool timed);

} // namespace ptlens::measure
