// Search for functions by name.
#pragma once

#include "symbols/functions/function_table.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::symbols {

// See Binary::find and Binary::nearest_names.
[[nodiscard]] std::vector<std::uint32_t> find_by_name(const FunctionTable& table,
                                                      std::string_view name);
[[nodiscard]] std::vector<std::string> names_near(const FunctionTable& table, std::string_view name,
                                                  std::size_t count);

} // namespace ptlens::symbols
