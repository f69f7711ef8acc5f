// Pages of calls as JSON.
#pragma once

#include "export/json/json_text.hpp"
#include "measure/measurement.hpp"
#include "measure/selection/call_page.hpp"
#include "measure/timeline/longest_parts.hpp"

#include <cstdint>
#include <vector>

namespace ptlens::exporting {

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

} // namespace ptlens::exporting
