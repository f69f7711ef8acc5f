// Inlined functions: a Measurement in which each execution of their code is a call, made at the
// place where it was inlined. Everything that can be asked about calls can be asked about them.
#pragma once

#include "measure/measurement.hpp"
#include "measure/report/report.hpp"
#include "measure/selection/selection.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ptlens::measure {

struct InlinedSite {                        // a place
  std::uint32_t function = stacks::no_call; // that was inlined, index into functions
  std::uint32_t holder = stacks::no_call;   // the function whose code holds it
  std::uint32_t site = stacks::no_site;
  bool countable = true; // false: the compiler mixed it with its surroundings
};

struct InlinedMeasurement {
  Measurement measurement;
  std::vector<InlinedSite> places;
  std::size_t called_functions = 0; // functions from here on are inlined ones, and their holders
  std::size_t called_sites = 0;     // sites from here on are places
  bool filtered = false;            // an address filter was on: executions were not looked for
};

// The same calls, those in inlined code as made by the functions that hold it.
[[nodiscard]] Measurement without_inlined(const InlinedMeasurement& inlined);

// One place in the report of a function. Without figures where it cannot be counted.
struct InlinedRow {
  stacks::FunctionInfo holder;
  stacks::CallSite site; // of the call that was replaced; `address` is the entry
  bool countable = true;
  std::uint64_t complete = 0;
  std::uint64_t incomplete = 0;
  std::uint64_t unwound = 0;
  LatencyStats latency;
};

// False when the function was certainly inlined nowhere. Fast.
[[nodiscard]] bool may_be_inlined(const Measurement& measurement, const std::string& name);

// Of the functions that were inlined, the one to report about, index into functions: the only one
// that ran, else the only one. Errors: bad_input when there are several, not_found for none.
[[nodiscard]] Result<std::uint32_t> choose_inlined(const InlinedMeasurement& inlined,
                                                   const std::string& name);

// Rows of the places of `functions`, of the executions that the selection admits; most total
// latency first, those that cannot be counted last.
[[nodiscard]] std::vector<InlinedRow> inlined_rows(const InlinedMeasurement& inlined,
                                                   std::span<const std::uint32_t> functions,
                                                   const Selection& selection);

// The functions among those inlined that are the same as one that was called: equal names, and
// declarations where both are known.
[[nodiscard]] std::vector<std::uint32_t> inlined_as(const InlinedMeasurement& inlined,
                                                    const stacks::FunctionInfo& function);

// What a report says of inlined code.
struct InlinedPart {
  std::vector<InlinedRow> rows;
  bool called = true;    // the report is of calls, and the rows are not in its figures
  bool filtered = false; // as in InlinedMeasurement
};

// What must be known to read the rows: how many places, how exact, what is left out. One line
// each.
[[nodiscard]] std::vector<std::string> inlined_notes(const InlinedPart& part,
                                                     const RecordingInfo& recording);

} // namespace ptlens::measure
