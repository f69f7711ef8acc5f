// Some of the selected calls, in an order, for a list that shows a page at a time.
#pragma once

#include "measure/measurement.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/selection/selection.hpp"

#include <cstdint>
#include <span>

namespace ptlens::measure {

enum class CallOrder : std::uint8_t { start, latency, self, off_cpu };

struct PageRequest {
  CallOrder order = CallOrder::start; // equal calls are ordered by start
  bool descending = false;
  std::uint64_t offset = 0;
  std::uint64_t limit = 0;
};

struct CallPage {
  std::uint64_t total = 0; // selected calls
  CallSubset calls;        // of the page, in order
};

// Reads the page of the functions' calls, in the states that the selection names, else in any.
[[nodiscard]] CallPage read_page(const Measurement& measurement,
                                 std::span<const stacks::FunctionId> functions,
                                 const Selection& selection, const PageRequest& request);

} // namespace ptlens::measure
