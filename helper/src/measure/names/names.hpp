// The names by which a user selects functions of a measurement.
#pragma once

#include "measure/measurement.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::measure {

struct FunctionSelector {
  std::string name;                     // empty: any
  std::optional<std::uint64_t> address; // ELF virtual address
};

// Parses "name", "0x1234" or "name@0x1234".
[[nodiscard]] FunctionSelector parse_selector(std::string_view text);

// Returns the functions that match the selector, ascending, of the best kind of match only.
// `binary`: a path or the end of a path, empty for any; an exact path is preferred.
[[nodiscard]] std::vector<stacks::FunctionId> functions_named(const Measurement& measurement,
                                                              const FunctionSelector& selector,
                                                              std::string_view binary);
[[nodiscard]] std::vector<stacks::FunctionId>
functions_named(std::span<const stacks::FunctionInfo> functions, const FunctionSelector& selector,
                std::string_view binary);

// The number of candidates that an error message lists.
inline constexpr std::size_t listed_candidates = 10;

// Returns up to `count` plain names nearest to `name` by edit distance (Levenshtein 1966), the
// nearest first.
[[nodiscard]] std::vector<std::string> nearest_names(const Measurement& measurement,
                                                     std::string_view name, std::size_t count);

// Returns the number of components of the shorter path when the other path ends with it; else 0.
// "." components and double slashes are ignored.
[[nodiscard]] std::size_t shared_path_end(std::string_view one, std::string_view other);

} // namespace ptlens::measure
