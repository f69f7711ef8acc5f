// Finding functions by what users type.
#pragma once

#include "symbols/function_table.hpp"

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

// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours. Gives
// `limit` for everything at or beyond it.
[[nodiscard]] std::size_t edit_distance(std::string_view one, std::string_view other,
                                        std::size_t limit);

} // namespace ptlens::symbols
