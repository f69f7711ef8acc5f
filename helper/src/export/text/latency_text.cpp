// Each figure has its own uncertainty: see measure::FigureErrors.
#include "export/text/latency_text.hpp"

#include "export/text/units.hpp"

#include <fmt/format.h>

namespace ptlens::exporting {
namespace {

std::string text_of(std::uint64_t ns, std::uint64_t within) {
  return figure(as_double(ns), as_double(within));
}

} // namespace

std::string mean_text(const measure::LatencyStats& latency) {
  return figure(latency.mean, latency.within.mean);
}
std::string min_text(const measure::LatencyStats& latency) {
  return text_of(latency.min, latency.within.min);
}
std::string max_text(const measure::LatencyStats& latency) {
  return text_of(latency.max, latency.within.max);
}
std::string p50_text(const measure::LatencyStats& latency) {
  return text_of(latency.p50, latency.within.p50);
}
std::string p90_text(const measure::LatencyStats& latency) {
  return text_of(latency.p90, latency.within.p90);
}
std::string p99_text(const measure::LatencyStats& latency) {
  return text_of(latency.p99, latency.within.p99);
}
std::string p999_text(const measure::LatencyStats& latency) {
  return text_of(latency.p999, latency.within.p999);
}
std::string total_text(const measure::LatencyStats& latency) {
  return figure(as_double(latency.total), latency.within.total);
}

std::string explained_mean(const measure::LatencyStats& latency) {
  const bool below =
      latency.corrected && measure::is_below_resolution(latency.mean, latency.within.mean);
  return mean_text(latency) + (below ? " (below what probes resolve)" : "");
}

std::string probes_text(const measure::RecordingInfo& recording) {
  if (recording.backend != "uprobe" && recording.backend != "uftrace") {
    return {};
  }
  return fmt::format("measured with {}: the program ran {}",
                     recording.backend == "uprobe" ? "probes" : "uftrace",
                     slower(recording.slowdown));
}

std::string raw_text(const measure::LatencyStats& raw) {
  return fmt::format("mean {}, p50 {}, p90 {}, p99 {}, min {}, max {}", duration(raw.mean),
                     duration(as_double(raw.p50)), duration(as_double(raw.p90)),
                     duration(as_double(raw.p99)), duration(as_double(raw.min)),
                     duration(as_double(raw.max)));
}

} // namespace ptlens::exporting
