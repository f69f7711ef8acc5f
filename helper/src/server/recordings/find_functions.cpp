#include "server/recordings/find_functions.hpp"

#include "measure/names/find_function.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptlens::server {

using protocol::FunctionSelector;

namespace {

// Finds a function by its name and its place in the source.
Result<stacks::FunctionId> moved_function(const measure::Measurement& measurement,
                                          const FunctionSelector& selector) {
  const auto named = measure::find_functions(measurement, selector.name, selector.binary);
  if (!named) {
    return std::unexpected(named.error());
  }
  const auto in_file = std::ranges::find_if(*named, [&](stacks::FunctionId index) {
    return !selector.file.empty() && measurement.functions[index].file == selector.file;
  });
  return in_file != named->end()
             ? Result<stacks::FunctionId>(*in_file)
             : measure::find_function(measurement, selector.name, selector.binary);
}

} // namespace

Result<stacks::FunctionId> function_index(const measure::Measurement& measurement,
                                          const FunctionSelector& selector) {
  if (!selector.address) {
    return measure::find_function(measurement, selector.name, selector.binary);
  }
  const auto at =
      std::ranges::find_if(measurement.functions, [&](const stacks::FunctionInfo& function) {
        return function.address == *selector.address &&
               (selector.binary.empty() || function.binary == selector.binary) &&
               (selector.build_id.empty() || function.name == selector.name);
      });
  if (at != measurement.functions.end()) {
    return stacks::FunctionId{static_cast<std::uint32_t>(at - measurement.functions.begin())};
  }
  if (!selector.build_id.empty()) { // the binary may have been rebuilt since
    return moved_function(measurement, selector);
  }
  return measure::find_function(
      measurement, fmt::format("{}@{:#x}", selector.name, *selector.address), selector.binary);
}

Result<std::vector<stacks::FunctionId>> function_indices(const measure::Measurement& measurement,
                                                         const FunctionSelector& selector) {
  if (selector.all) {
    return measure::find_functions(measurement, selector.name, selector.binary);
  }
  const auto one = function_index(measurement, selector);
  if (!one) {
    return std::unexpected(one.error());
  }
  return std::vector{*one};
}

} // namespace ptlens::server
