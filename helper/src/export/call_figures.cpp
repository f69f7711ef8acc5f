// Figures below the resolution of probes are halved as in reports.
#include "export/call_figures.hpp"

#include "base/words.hpp"
#include "export/text/units.hpp"
#include "measure/statistics/statistics.hpp"

namespace ptlens::exporting {

namespace {

constexpr Word<stacks::CallState> state_words[] = {{stacks::CallState::complete, "complete"},
                                                   {stacks::CallState::incomplete, "incomplete"},
                                                   {stacks::CallState::unwound, "unwound"}};

} // namespace

const char* word(stacks::CallState state) {
  return word_of(state_words, state);
}

CallFigures figures_of(const measure::Measurement& measurement, const stacks::CallTable& table,
                       std::size_t call) {
  const bool self_known = measurement.self_known(
      table.function[call], table.state[call] == stacks::CallState::incomplete);
  std::uint64_t latency = table.latency[call];
  std::uint64_t within = table.uncertainty[call];
  if (table.end_unknown[call] != 0) {
    CallFigures figures;
    figures.bounds.emplace(latency, std::nullopt);
    if (within < UINT32_MAX) { // else it was cut
      figures.bounds->second = latency + within;
    }
    return figures;
  }
  std::uint64_t self = table.self(call);
  if (measurement.is_corrected()) {
    std::uint64_t within_self = within + within / 2; // see measure::function_report()
    measure::halve_below_resolution(latency, within);
    measure::halve_below_resolution(self, within_self);
  }
  return {.latency = latency,
          .within = within,
          .self = self_known ? std::optional(self) : std::nullopt,
          .raw_latency = table.wall(call),
          .bounds = std::nullopt};
}

std::string latency_text(const measure::Measurement& measurement, const stacks::CallTable& table,
                         std::size_t call) {
  const CallFigures figures = figures_of(measurement, table, call);
  return figures.latency ? brief_figure(as_double(*figures.latency), as_double(figures.within))
                         : "\u2265 " + duration(as_double(table.latency[call]));
}

} // namespace ptlens::exporting
