// How a user names a function of a measurement.
#pragma once

#include "measure/measurement.hpp"
#include "measure/report/report.hpp"

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

// "name", "0x1234" or "name@0x1234".
[[nodiscard]] FunctionSelector parse_selector(std::string_view text);

// Functions that answer to the selector, best kind of match only, ascending. `binary`: a path or
// its end, empty for any; an exact path is preferred.
[[nodiscard]] std::vector<std::uint32_t> functions_named(const Measurement& measurement,
                                                         const FunctionSelector& selector,
                                                         std::string_view binary);
[[nodiscard]] std::vector<std::uint32_t>
functions_named(std::span<const stacks::FunctionInfo> functions, const FunctionSelector& selector,
                std::string_view binary);

// The name that all functions of a report have without parameters and template arguments, else the
// last component of it, else that of the first.
[[nodiscard]] std::string common_name(const Measurement& measurement, const Report& report);

// The number of candidates that an error message names.
inline constexpr std::size_t listed_candidates = 10;

// Up to `count` plain names nearest to `name` by edit distance (Levenshtein 1966), nearest first.
[[nodiscard]] std::vector<std::string> nearest_names(const Measurement& measurement,
                                                     std::string_view name, std::size_t count);

// How many components two paths share at their end, when one's components are all at the end of the
// other's; 0 when they differ. "." components and double slashes do not count.
[[nodiscard]] std::size_t shared_path_end(std::string_view one, std::string_view other);

} // namespace ptlens::measure
