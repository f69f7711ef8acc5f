// A measurement together with a table of all its calls, which tests read directly.
#pragma once

#include "cache/reading/call_rows.hpp"
#include "measure/measurement.hpp"

#include <utility>

namespace ptlens::measure::test {

struct MeasuredCalls : Measurement {
  explicit MeasuredCalls(Measurement measurement)
      : Measurement(std::move(measurement)), calls(cache::read_all_calls(*cache).calls) {}

  stacks::CallTable calls;
};

} // namespace ptlens::measure::test
