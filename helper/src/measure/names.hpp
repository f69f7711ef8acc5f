// How a user names a function: demangled C++ and Rust names taken apart just far enough to leave
// out parameters, template arguments, return types and clone suffixes.
#pragma once

#include "measure/measurement.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::measure {

struct NameShape {
  std::string plain;                   // "ns::C::f" of "void ns::C<int>::f<4>(int) const"
  std::vector<std::size_t> components; // where each "::" component begins in `plain`, ascending

  [[nodiscard]] std::string_view last() const;
};

[[nodiscard]] NameShape shape_of(std::string_view full);

// One past the bracket that closes the one at `open`, the size of the text where none does. Knows
// "->" and operator names, which hold unpaired brackets.
[[nodiscard]] std::size_t group_end(std::string_view text, std::size_t open);

// One past the operator's name when "operator+" or the like begins at `at`, else `at`.
[[nodiscard]] std::size_t operator_end(std::string_view text, std::size_t at);

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

// Up to `count` plain names nearest to `name` by edit distance (Levenshtein 1966), nearest first.
[[nodiscard]] std::vector<std::string> nearest_names(const Measurement& measurement,
                                                     std::string_view name, std::size_t count);

// How many components two paths share at their end, when one's components are all at the end of the
// other's; 0 when they differ. "." components and double slashes do not count.
[[nodiscard]] std::size_t shared_path_end(std::string_view one, std::string_view other);

} // namespace ptlens::measure
