// Functions are matched with their probes by binary and address.
#include "engine/probes/probe_correction.hpp"

#include "record/manifest.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ptlens::engine {

std::optional<measure::CorrectedLatency>
corrected_latency(const measure::Measurement& measurement,
                  std::span<const stacks::FunctionId> functions,
                  const measure::Selection& selection) {
  if (measurement.recording.backend != "uprobe") {
    return std::nullopt;
  }
  const auto manifest = record::read_manifest(measurement.recording.path);
  if (!manifest) {
    return std::nullopt;
  }
  struct Costs {
    double own = 0;
    double entry = 0;
    double exit = 0; // of the most expensive exit: a return
    double entry_uncertainty = 0;
    double exit_uncertainty = 0;
  };
  std::map<std::pair<std::string, std::uint64_t>, Costs> known;
  for (const record::Probe& probe : manifest->probes) {
    Costs& costs = known[{probe.binary, probe.function}];
    if (probe.kind == record::Probe::Kind::entry) {
      costs.own = probe.latency_ns;
      costs.entry = probe.hit_ns;
      costs.entry_uncertainty = probe.uncertainty_ns;
    } else if (probe.kind == record::Probe::Kind::exit) {
      costs.exit = std::max(costs.exit, probe.hit_ns);
      costs.exit_uncertainty = std::max(costs.exit_uncertainty, probe.uncertainty_ns);
    }
  }
  measure::ProbedFunctions probed(measurement.functions.size());
  for (const stacks::FunctionId index : probed.ids()) {
    const stacks::FunctionInfo& info = measurement.functions[index];
    if (const auto found = known.find({info.binary, info.address}); found != known.end()) {
      const Costs& costs = found->second;
      probed[index] = {.own = costs.own,
                       .hits = costs.entry + costs.exit,
                       .own_uncertainty = costs.entry_uncertainty,
                       .hits_uncertainty = costs.entry_uncertainty + costs.exit_uncertainty};
    }
  }
  if (std::ranges::none_of(functions, [&](stacks::FunctionId function) {
        return probed.has(function) && probed[function].own > 0;
      })) {
    return std::nullopt;
  }
  return measure::corrected_latency(measurement, functions, selection, probed);
}

} // namespace ptlens::engine
