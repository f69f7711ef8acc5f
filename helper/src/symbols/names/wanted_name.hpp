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
  // Returns the kind of match, 0 being the best: the whole demangled or linkage name, the name
  // without parameters and template arguments, its last components (with parameters or template
  // arguments where they were typed), another linkage name of the same demangled one. Returns
  // nothing for another function. A typed version ("free@@GLIBC_2.2.5") or Rust hash
  // ("least::h08e6b6b8d9ee3681") must be that of the linkage name; without a typed version, a
  // version that only old programs use is the worst match.
  [[nodiscard]] std::optional<std::size_t> match(std::string_view demangled,
                                                 std::string_view linkage_name) const;
  // Returns the best match of the names of a function: the first is its own, which `demangled`
  // belongs to, and the others are aliases.
  [[nodiscard]] std::optional<std::size_t> match(std::string_view demangled,
                                                 std::span<const std::string> linkage_names) const;
  [[nodiscard]] bool has_version() const { return !version_.empty(); }
  // Returns false where no demangled form of the name matches, whether the name is mangled or not.
  // It is not demangled.
  [[nodiscard]] bool may_match(std::string_view name) const;

private:
  [[nodiscard]] std::optional<std::size_t> match_name(std::string_view demangled,
                                                      std::string_view linkage_name) const;
  [[nodiscard]] std::optional<std::size_t>
  match_shape(std::string_view plain, std::span<const std::size_t> components) const;
  [[nodiscard]] std::optional<std::size_t> match_written(std::string_view demangled,
                                                         const NameShape& shape) const;

  std::string stub_;           // the whole name if it is the one of a stub, else empty
  std::string version_;        // empty: any
  std::string hash_;           // empty: any
  std::string name_;           // without them
  std::string packed_;         // without spaces
  std::string demangled_;      // demangled form of a linkage name, else empty
  std::string called_;         // the call operator of a lambda, else empty
  std::string last_;           // last component
  bool is_identifier_ = false; // which a mangled name contains as it is
};

} // namespace ptlens::symbols
