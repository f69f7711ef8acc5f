// The checks of each type of field.
#include "protocol/fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

namespace ptlens::protocol {

namespace {

const Input absent = nullptr;

bool is_text(const Input& value) {
  return value.is_string() && value.get_ref<const std::string&>().find('\0') == std::string::npos;
}

// Returns the name in lower case and without underscores, so that a wrong style is a near miss.
std::string plain(std::string_view name) {
  std::string text;
  for (const char letter : name) {
    if (letter != '_') {
      text += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
  }
  return text;
}

// Returns the Levenshtein distance.
std::size_t edits_between(std::string_view one, std::string_view other) {
  std::vector<std::size_t> row(other.size() + 1);
  for (std::size_t column = 0; column < row.size(); ++column) {
    row[column] = column;
  }
  for (std::size_t line = 0; line < one.size(); ++line) {
    std::size_t diagonal = std::exchange(row[0], line + 1);
    for (std::size_t column = 0; column < other.size(); ++column) {
      const std::size_t replaced = diagonal + (one[line] == other[column] ? 0 : 1);
      diagonal = row[column + 1];
      row[column + 1] = std::min({replaced, diagonal + 1, row[column] + 1});
    }
  }
  return row.back();
}

// Returns "; did you mean X?", or nothing where no name is near.
std::string suggestion(std::string_view name, std::initializer_list<std::string_view> known) {
  constexpr std::size_t longest_name = 64;
  std::size_t least = 3; // more edits than this are another word
  std::string_view nearest;
  const std::string wanted = plain(name.substr(0, longest_name));
  for (const std::string_view each : known) {
    const std::size_t edits = edits_between(wanted, plain(each));
    if (edits < least && edits < each.size()) {
      least = edits;
      nearest = each;
    }
  }
  return nearest.empty() ? std::string() : fmt::format("; did you mean {}?", nearest);
}

} // namespace

BadField bad_field(std::string path, const std::string& what) {
  std::string message = fmt::format("{} {}", path.empty() ? "params" : path, what);
  return {.path = std::move(path), .message = std::move(message)};
}

std::string hexadecimal(std::uint64_t address) {
  return fmt::format("{:#x}", address);
}

Fields::Fields(const Input& value, std::string path, std::optional<BadField>& bad)
    : value_(value), path_(std::move(path)), bad_(bad) {
  if (!value.is_null() && !value.is_object()) {
    refuse("", "must be an object");
  }
}

const Input* Fields::find(const char* name) const {
  if (!value_.is_object()) {
    return nullptr;
  }
  const auto at = value_.find(name);
  return at == value_.end() || at->is_null() ? nullptr : &*at;
}

std::string Fields::path_of(std::string_view name) const {
  return path_.empty() || name.empty() ? path_ + std::string(name)
                                       : fmt::format("{}.{}", path_, name);
}

void Fields::refuse(std::string_view name, const std::string& what) const {
  if (!bad_) {
    bad_ = bad_field(path_of(name), what);
  }
}

bool Fields::has(const char* name) const {
  return find(name) != nullptr;
}

void Fields::require(const char* name) const {
  if (!has(name)) {
    refuse(name, "is missing");
  }
}

void Fields::allow_only(std::initializer_list<std::string_view> names) const {
  if (!value_.is_object()) {
    return;
  }
  for (const auto& [name, value] : value_.items()) {
    const bool of_request =
        path_.empty() && (name == "workDoneToken" || name == "partialResultToken");
    if (!of_request && std::ranges::find(names, name) == names.end()) {
      refuse(name, "is not a known parameter" + suggestion(name, names));
    }
  }
}

std::optional<std::string> Fields::text(const char* name, std::size_t least_length) const {
  const Input* field = find(name);
  if (field == nullptr) {
    return std::nullopt;
  }
  if (!is_text(*field)) {
    refuse(name, "must be a string without NUL");
    return std::nullopt;
  }
  if (field->get_ref<const std::string&>().size() < least_length) {
    refuse(name, "must not be empty");
    return std::nullopt;
  }
  return field->get_ref<const std::string&>();
}

std::optional<bool> Fields::flag(const char* name) const {
  const Input* field = find(name);
  if (field == nullptr) {
    return std::nullopt;
  }
  if (!field->is_boolean()) {
    refuse(name, "must be true or false");
    return std::nullopt;
  }
  return field->get<bool>();
}

std::optional<std::int64_t> Fields::integer(const char* name, std::int64_t low,
                                            std::int64_t high) const {
  const Input* field = find(name);
  if (field == nullptr) {
    return std::nullopt;
  }
  const bool fits =
      field->is_number_integer() &&
      (!field->is_number_unsigned() || std::in_range<std::int64_t>(field->get<std::uint64_t>()));
  if (!fits || field->get<std::int64_t>() < low || field->get<std::int64_t>() > high) {
    refuse(name, fmt::format("must be an integer from {} to {}", low, high));
    return std::nullopt;
  }
  return field->get<std::int64_t>();
}

std::optional<double> Fields::number(const char* name, double low, double high) const {
  const Input* field = find(name);
  if (field == nullptr) {
    return std::nullopt;
  }
  const double value = field->is_number() ? field->get<double>() : std::nan("");
  if (!(value >= low && value <= high)) {
    refuse(name, high == highest_number ? fmt::format("must be a number of at least {}", low)
                                        : fmt::format("must be a number from {} to {}", low, high));
    return std::nullopt;
  }
  return value;
}

std::optional<std::vector<std::string>> Fields::texts(const char* name) const {
  const Input* field = find(name);
  if (field == nullptr) {
    return std::nullopt;
  }
  if (!field->is_array() || !std::ranges::all_of(*field, is_text)) {
    refuse(name, "must be a list of strings without NUL");
    return std::nullopt;
  }
  std::vector<std::string> values;
  for (const Input& value : *field) {
    values.push_back(value.get_ref<const std::string&>());
  }
  return values;
}

std::optional<std::vector<std::int32_t>> Fields::integers(const char* name, std::int32_t low,
                                                          std::int32_t high) const {
  const Input* field = find(name);
  if (field == nullptr) {
    return std::nullopt;
  }
  const auto fits = [&](const Input& value) {
    return value.is_number_integer() &&
           (!value.is_number_unsigned() ||
            std::in_range<std::int64_t>(value.get<std::uint64_t>())) &&
           value.get<std::int64_t>() >= low && value.get<std::int64_t>() <= high;
  };
  if (!field->is_array() || !std::ranges::all_of(*field, fits)) {
    refuse(name, fmt::format("must be a list of integers from {} to {}", low, high));
    return std::nullopt;
  }
  std::vector<std::int32_t> values;
  for (const Input& value : *field) {
    values.push_back(value.get<std::int32_t>());
  }
  return values;
}

std::optional<std::map<std::string, std::string>> Fields::strings_by_name(const char* name) const {
  const Input* field = find(name);
  if (field == nullptr) {
    return std::nullopt;
  }
  if (!field->is_object() || !std::ranges::all_of(*field, is_text)) {
    refuse(name, "must be an object of strings without NUL");
    return std::nullopt;
  }
  std::map<std::string, std::string> values;
  for (const auto& [key, value] : field->items()) {
    values[key] = value.get_ref<const std::string&>();
  }
  return values;
}

std::optional<std::uint64_t> Fields::address(const char* name) const {
  const auto value = text(name, 0);
  if (!value) {
    return std::nullopt;
  }
  constexpr std::string_view prefix = "0x";
  std::uint64_t address = 0;
  if (value->starts_with(prefix)) {
    const char* const end = value->data() + value->size();
    const auto [last, error] = std::from_chars(value->data() + prefix.size(), end, address, 16);
    if (error == std::errc{} && last == end) {
      return address;
    }
  }
  refuse(name, "must be an address such as 0x401136");
  return std::nullopt;
}

std::optional<Interval> Fields::interval(const char* name) const {
  const Input* field = find(name);
  if (field == nullptr) {
    return std::nullopt;
  }
  const auto is_bound = [](const Input& value) {
    return value.is_null() || (value.is_number() && value.get<double>() >= 0);
  };
  if (field->is_array() && field->size() == 2 && std::ranges::all_of(*field, is_bound)) {
    const auto bound = [field](std::size_t index) {
      const Input& value = (*field)[index];
      return value.is_null() ? std::nullopt : std::optional(value.get<double>());
    };
    const Interval interval{.low = bound(0), .high = bound(1)};
    if (!interval.low || !interval.high || *interval.low <= *interval.high) {
      return interval;
    }
  }
  refuse(name, "must be [low, high] with 0 <= low <= high, or null for no bound");
  return std::nullopt;
}

std::optional<ProgressToken> Fields::token(const char* name) const {
  const Input* field = find(name);
  if (field == nullptr) {
    return std::nullopt;
  }
  if (is_text(*field)) {
    return field->get_ref<const std::string&>();
  }
  if (!field->is_number_integer()) {
    refuse(name, "must be a string or an integer");
    return std::nullopt;
  }
  return integer(name, lowest_integer, highest_integer);
}

std::optional<std::size_t> Fields::choice(const char* name,
                                          std::span<const char* const> names) const {
  const auto value = text(name, 0);
  if (!value) {
    return std::nullopt;
  }
  const auto at = std::ranges::find(names, std::string_view(*value));
  if (at == names.end()) {
    refuse(name, fmt::format("must be one of {}", fmt::join(names, ", ")));
    return std::nullopt;
  }
  return static_cast<std::size_t>(at - names.begin());
}

std::vector<std::size_t> Fields::choices(const char* name, std::span<const char* const> names,
                                         std::size_t most) const {
  std::vector<std::size_t> values;
  const Input* field = find(name);
  if (field == nullptr) {
    return values;
  }
  const auto index_of = [names](const Input& value) {
    const auto at =
        is_text(value)
            ? std::ranges::find(names, std::string_view(value.get_ref<const std::string&>()))
            : names.end();
    return static_cast<std::size_t>(at - names.begin());
  };
  const auto is_known = [&](const Input& value) { return index_of(value) < names.size(); };
  if (!field->is_array() || field->size() > most || !std::ranges::all_of(*field, is_known)) {
    refuse(name, fmt::format("must be a list of {}", fmt::join(names, ", ")));
    return values;
  }
  for (const Input& value : *field) {
    values.push_back(index_of(value));
  }
  return values;
}

Fields Fields::child(const char* name) const {
  const Input* field = find(name);
  return {field == nullptr ? absent : *field, path_of(name), bad_};
}

std::vector<Fields> Fields::children(const char* name, std::size_t most) const {
  const Input* field = find(name);
  std::vector<Fields> entries;
  if (field == nullptr) {
    return entries;
  }
  if (!field->is_array() || field->size() > most) {
    refuse(name, fmt::format("must be a list of at most {} objects", most));
    return entries;
  }
  for (const Input& value : *field) {
    entries.emplace_back(value, fmt::format("{}[{}]", path_of(name), entries.size()), bad_);
  }
  return entries;
}

} // namespace ptlens::protocol
