// Reads the fields of a message and remembers the first field that does not match the schema.
#pragma once

#include "protocol/types.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::protocol {

inline constexpr std::int64_t lowest_integer = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t highest_integer = std::numeric_limits<std::int64_t>::max();
inline constexpr double lowest_number = std::numeric_limits<double>::lowest();
inline constexpr double highest_number = std::numeric_limits<double>::max();

class Fields {
public:
  // The fields of `value`, which is an object, or null for no fields. `bad` must outlive this
  // object and its children.
  Fields(const Input& value, std::string path, std::optional<BadField>& bad);

  // Each returns the field's value, or nothing when the field is absent, null or refused.
  [[nodiscard]] std::optional<std::string> text(const char* name, std::size_t least_length) const;
  [[nodiscard]] std::optional<bool> flag(const char* name) const;
  [[nodiscard]] std::optional<std::int64_t> integer(const char* name, std::int64_t low,
                                                    std::int64_t high) const;
  [[nodiscard]] std::optional<double> number(const char* name, double low, double high) const;
  [[nodiscard]] std::optional<std::vector<std::string>> texts(const char* name) const;
  [[nodiscard]] std::optional<std::vector<std::int32_t>>
  integers(const char* name, std::int32_t low, std::int32_t high) const;
  [[nodiscard]] std::optional<std::map<std::string, std::string>>
  strings_by_name(const char* name) const;
  [[nodiscard]] std::optional<std::uint64_t> address(const char* name) const;
  [[nodiscard]] std::optional<Interval> interval(const char* name) const;
  [[nodiscard]] std::optional<ProgressToken> token(const char* name) const;
  // Returns the index of the value in `names`.
  [[nodiscard]] std::optional<std::size_t> choice(const char* name,
                                                  std::span<const char* const> names) const;
  // Returns the same of each entry of a list; none when the field is absent, null or refused.
  [[nodiscard]] std::vector<std::size_t>
  choices(const char* name, std::span<const char* const> names, std::size_t most) const;

  [[nodiscard]] bool has(const char* name) const;
  [[nodiscard]] Fields child(const char* name) const;
  // Returns the entries of a list of objects; none when the field is absent, null or refused.
  [[nodiscard]] std::vector<Fields> children(const char* name, std::size_t most) const;

  // Refuses the message when the field is absent.
  void require(const char* name) const;
  // Refuses the message when it has a field that is not in the list. A request may always have a
  // workDoneToken and a partialResultToken, which LSP defines.
  void allow_only(std::initializer_list<std::string_view> names) const;
  // Refuses the message unless an earlier field was refused.
  void refuse(std::string_view name, const std::string& what) const;

private:
  [[nodiscard]] const Input* find(const char* name) const;
  [[nodiscard]] std::string path_of(std::string_view name) const;

  const Input& value_;
  std::string path_;
  std::optional<BadField>& bad_;
};

} // namespace ptlens::protocol
