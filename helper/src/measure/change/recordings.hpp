// Compares the functions of some recordings of a program with those of others.
#pragma once

#include "measure/change/change.hpp"
#include "measure/measurement.hpp"
#include "measure/report/report.hpp"

#include <span>
#include <vector>

namespace ptlens::measure {

// Returns the function of `base` that corresponds to `function` of `now`: it has the same name in a
// binary with the same file name and, where several functions match, in a source file with the same
// name. Returns none where none or several match.
[[nodiscard]] stacks::FunctionId same_function(const Measurement& base, const Measurement& now,
                                               stacks::FunctionId function);

struct FunctionChange {
  const Measurement* measurement = nullptr; // a recording that has it; one of now where possible
  stacks::FunctionId function{};            // in that recording
  std::vector<Report> base; // of each recording that has calls of it, without callers, children and
  std::vector<Report> now;  // threads
  Difference difference;    // set where both sides have it
};

struct RecordingDifference {
  std::vector<FunctionChange> both;      // largest change of total latency first
  std::vector<FunctionChange> only_base; // most total latency first
  std::vector<FunctionChange> only_now;
};

using Recordings = std::span<const Measurement* const>;

// Compares all functions that were called.
[[nodiscard]] RecordingDifference differences(Recordings base, Recordings now);

// Compares one function of `measurement`, which is one of the recordings.
[[nodiscard]] RecordingDifference differences_of(Recordings base, Recordings now,
                                                 const Measurement& measurement,
                                                 stacks::FunctionId function);

} // namespace ptlens::measure
