// Inlined functions: a Measurement in which each execution of their code is a call from the place
// where it was inlined. Every question about calls can be asked about such executions.
#pragma once

#include "measure/measurement.hpp"
#include "measure/report/report.hpp"
#include "measure/selection/selection.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ptlens::measure {

struct InlinedSite {                                      // a place
  stacks::FunctionId function = stacks::FunctionId::none; // the inlined one
  stacks::FunctionId holder = stacks::FunctionId::none;   // the function that contains the code
  stacks::SiteId site = stacks::SiteId::none;
  bool countable = true; // false: the compiler mixed it with the code around it
};

struct InlinedMeasurement {
  Measurement measurement;
  std::vector<InlinedSite> places;
  std::size_t called_functions =
      0;                        // functions from this index on are inlined ones, and their holders
  std::size_t called_sites = 0; // sites from this index on are places
  bool filtered = false;        // an address filter was used: executions were not looked for
};

// One place in the report of a function. It has no figures where it cannot be counted.
struct InlinedRow {
  stacks::FunctionInfo holder;
  stacks::CallSite site; // of the call that was replaced; `address` is the entry of the code
  bool countable = true;
  std::uint64_t complete = 0;
  std::uint64_t incomplete = 0;
  std::uint64_t unwound = 0;
  LatencyStats latency;
};

// Returns false when the function was certainly inlined nowhere. Reads no debug information.
[[nodiscard]] bool may_be_inlined(const Measurement& measurement, const std::string& name);

// Returns the inlined function to report about, an index into functions: the only one that ran,
// else the only one. Errors: bad_input when there are several, not_found for none.
[[nodiscard]] Result<stacks::FunctionId> choose_inlined(const InlinedMeasurement& inlined,
                                                        const std::string& name);

// Returns a row for each place of the functions, of the executions that the selection accepts: by
// total latency, the largest first; places that cannot be counted are last.
[[nodiscard]] std::vector<InlinedRow> inlined_rows(const InlinedMeasurement& inlined,
                                                   std::span<const stacks::FunctionId> functions,
                                                   const Selection& selection);

// Returns the inlined functions that are the called function: their names are equal, and so are
// their declarations where both are known.
[[nodiscard]] std::vector<stacks::FunctionId> inlined_as(const InlinedMeasurement& inlined,
                                                         const stacks::FunctionInfo& function);

// The part of a report about inlined code.
struct InlinedPart {
  std::vector<InlinedRow> rows;
  bool called = true;    // the report is of calls, and the rows are not in its figures
  bool filtered = false; // as in InlinedMeasurement
};

// Returns notes on the rows: the number of places, the uncertainty, and what is left out.
[[nodiscard]] std::vector<Note> inlined_notes(const InlinedPart& part,
                                              const RecordingInfo& recording);

} // namespace ptlens::measure
