// Matching of functions against a name that a user typed.
#pragma once

#include "symbols/names/name_shape.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::symbols {

// A name as typed by a user.
class WantedName {
public:
  explicit WantedName(std::string_view name);

  static constexpr std::size_t match_kinds = 4;
  // Returns the kind of match, 0 being the best: the whole demangled name, the name without
  // parameters and template arguments, its last components (with parameters or template arguments
  // where they were typed), the linkage name. Returns nothing for another function.
  [[nodiscard]] std::optional<std::size_t> match(std::string_view demangled,
                                                 std::string_view linkage_name) const;

private:
  [[nodiscard]] std::optional<std::size_t>
  match_shape(std::string_view plain, std::span<const std::size_t> components) const;
  [[nodiscard]] std::optional<std::size_t> match_written(std::string_view demangled,
                                                         const NameShape& shape) const;

  std::string name_;
  std::string packed_;    // without spaces
  std::string demangled_; // demangled form of a linkage name, else empty
  std::string called_;    // the call operator of a lambda, else empty
  std::string last_;      // last component
};

} // namespace ptlens::symbols
