// The JSON of measurements, for the command line and the server. The protocol's schema defines the
// fields. All lists are flat, because a nested tree of calls would break parsers that limit the
// depth. 64-bit addresses are "0x…" strings; times are numbers in ns.
#pragma once

#include "base/note.hpp"
#include "export/call_figures.hpp"
#include "export/json/json_text.hpp"
#include "measure/flame/flame.hpp"
#include "measure/lines/lines.hpp"
#include "measure/measurement.hpp"
#include "measure/report/inlined.hpp"
#include "measure/report/report.hpp"
#include "measure/report/watched_function.hpp"
#include "measure/selection/call_page.hpp"
#include "measure/timeline/longest_parts.hpp"

#include <cstdint>
#include <optional>

namespace ptlens::exporting {

// {"code", "arguments", "text"}
[[nodiscard]] Json note_json(const Note& note);

[[nodiscard]] Json recording_json(const measure::Measurement& measurement);

// Returns {name, binary, address, file, line}; FunctionId::none means the unknown function.
[[nodiscard]] Json function_json(const measure::Measurement& measurement,
                                 stacks::FunctionId function);

// Adds the fields call_site (an address, null where the site is unknown), file and line.
void add_site(JsonRows& rows, const measure::Measurement& measurement, stacks::SiteId site);

[[nodiscard]] Json latency_json(const measure::LatencyStats& stats);
[[nodiscard]] Json off_cpu_json(const measure::OffCpuStats& stats);

// `raw`: the latency with the time of the probes, where there is one.
[[nodiscard]] Json report_json(const measure::Measurement& measurement,
                               const measure::Report& report,
                               const std::optional<measure::LatencyStats>& raw = {});

// Returns {function, calls, latency, off_cpu, histogram, done, total}; the last two are bytes of
// trace.
[[nodiscard]] Json partial_report_json(const measure::PartialReport& report);

// Adds the field `inlined` and the notes on it.
void add_inlined(Json& report, const measure::Measurement& measurement,
                 const measure::InlinedPart& inlined);

[[nodiscard]] Json functions_json(const measure::Measurement& measurement,
                                  std::span<const measure::FunctionRow> rows);

[[nodiscard]] Json lines_json(const measure::Measurement& measurement,
                              const measure::FileLines& lines);

// Returns the nodes as columns. A node's function is an index into `functions`; -1 for the root.
[[nodiscard]] Json flame_json(const measure::Measurement& measurement,
                              const measure::FlameTree& tree, measure::FlameTime time);

// Returns null for no figure, and [least, most] or null for bounds.
[[nodiscard]] Json json_of(std::optional<std::uint64_t> figure);
[[nodiscard]] Json bounds_json(const CallFigures& figures);

// What is found out about the calls of a page beyond their own figures, by row.
struct CallDetails {
  std::vector<std::uint64_t> numbers;
  std::vector<std::vector<measure::CallPart>> parts;
};

// Returns one page of calls as columns: `offset` is the index of the first call of the page.
// `with_function`: with the functions that were called. `details`: null: without.
[[nodiscard]] Json calls_json(const measure::Measurement& measurement,
                              const measure::CallPage& page, std::uint64_t offset,
                              bool with_function, const CallDetails* details = nullptr);

// Returns "wall", "on" or "off".
[[nodiscard]] const char* word(measure::FlameTime time);

// Returns "complete", "incomplete" or "unwound".
[[nodiscard]] const char* word(stacks::CallState state);

} // namespace ptlens::exporting
