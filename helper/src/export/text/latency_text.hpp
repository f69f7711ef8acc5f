// The figures of latencies for people, each with its uncertainty, and how they were measured.
#pragma once

#include "measure/measurement.hpp"
#include "measure/report/report_figures.hpp"
#include "measure/statistics/statistics.hpp"

#include <string>

namespace ptlens::exporting {

// Return the figures by the rule of figure().
[[nodiscard]] std::string mean_text(const measure::LatencyStats& latency);
[[nodiscard]] std::string min_text(const measure::LatencyStats& latency);
[[nodiscard]] std::string max_text(const measure::LatencyStats& latency);
[[nodiscard]] std::string p50_text(const measure::LatencyStats& latency);
[[nodiscard]] std::string p90_text(const measure::LatencyStats& latency);
[[nodiscard]] std::string p99_text(const measure::LatencyStats& latency);
[[nodiscard]] std::string p999_text(const measure::LatencyStats& latency);
[[nodiscard]] std::string total_text(const measure::LatencyStats& latency);

// Returns "< 40 µs (below what probes resolve)" where the mean is, else the mean.
[[nodiscard]] std::string explained_mean(const measure::LatencyStats& latency);

// Returns "measured with probes: the program ran 1.04× slower"; "" for other recordings.
[[nodiscard]] std::string probes_text(const measure::RecordingInfo& recording);

// Returns "mean 2.00 µs, p50 …": the figures with the time of the probes.
[[nodiscard]] std::string raw_text(const measure::LatencyStats& raw);

} // namespace ptlens::exporting
