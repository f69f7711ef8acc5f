// Search for functions by name.
#pragma once

#include "symbols/functions/function_table.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::symbols {

// See Binary::find and Binary::nearest_names.
[[nodiscard]] std::vector<std::uint32_t> find_by_name(const FunctionTable& table,
                                                      std::string_view name);
[[nodiscard]] std::vector<std::string> names_near(const FunctionTable& table, std::string_view name,
                                                  std::size_t count);

// See Binary::linkage_names, Binary::exported and Binary::defined.
[[nodiscard]] std::vector<std::string> linkage_names_of(const FunctionTable& table,
                                                        std::uint32_t index);
[[nodiscard]] std::optional<std::uint32_t> find_exported(const FunctionTable& table,
                                                         std::string_view linkage_name);
[[nodiscard]] std::optional<std::uint32_t> find_defined(const FunctionTable& table,
                                                        std::string_view linkage_name);

} // namespace ptlens::symbols
