// Functions and call sites as JSON.
#pragma once

#include "export/json/json_text.hpp"
#include "measure/measurement.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ptlens::exporting {

// Returns {name, binary, address}; FunctionId::none means the unknown function.
[[nodiscard]] Json identity_json(const measure::Measurement& measurement,
                                 stacks::FunctionId function);
// Returns {name, binary, address, file, line}.
[[nodiscard]] Json function_json(const stacks::FunctionInfo& function);
[[nodiscard]] Json function_json(const measure::Measurement& measurement,
                                 stacks::FunctionId function);
// Returns the address of the call site; null where the site is unknown.
[[nodiscard]] Json site_address_json(const measure::Measurement& measurement, stacks::SiteId site);

// Adds the fields name, binary and address.
void add_identity(JsonRows& rows, const measure::Measurement& measurement,
                  stacks::FunctionId function);
// Adds the fields file and line of the function.
void add_place(JsonRows& rows, const measure::Measurement& measurement,
               stacks::FunctionId function);
// Adds the fields call_site (null where the site is unknown), file and line.
void add_site(JsonRows& rows, const measure::Measurement& measurement, stacks::SiteId site);

// Numbers the functions of a list in the order of their first use, and describes each once.
class FunctionTable {
public:
  explicit FunctionTable(const measure::Measurement& measurement) : measurement_(measurement) {}

  // Returns the number; -1 for no function. Time outside user code and waits count as functions.
  [[nodiscard]] std::int64_t index(stacks::FunctionId function);
  [[nodiscard]] Json take();

private:
  const measure::Measurement& measurement_;
  std::unordered_map<stacks::FunctionId, std::int64_t> numbers_;
  std::vector<Json> list_;
};

} // namespace ptlens::exporting
