// Reads the fields of a message.
#include "server/rpc/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace ptlens::server {

namespace {

const Input absent = nullptr;

bool without_nul(const std::string& text) {
  return text.find('\0') == std::string::npos;
}

} // namespace

Fields::Fields(const Input& value, std::string path, std::optional<Fault>& fault)
    : value_(value), path_(std::move(path)), fault_(fault) {
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

const Input* Fields::find(const char* name, Presence presence) const {
  const Input* field = find(name);
  if (field == nullptr && presence == Presence::required) {
    refuse(name, "is missing");
  }
  return field;
}

void Fields::refuse(const char* name, const std::string& what) const {
  if (fault_) {
    return;
  }
  const std::string path =
      path_.empty() || *name == '\0' ? path_ + name : fmt::format("{}.{}", path_, name);
  fault_ = Fault{.code = code::invalid_params,
                 .message = fmt::format("{} {}", path.empty() ? "params" : path, what),
                 .data = {{"path", path}}};
}

bool Fields::has(const char* name) const {
  return find(name) != nullptr;
}

void Fields::read(const char* name, std::string& out, Presence presence) const {
  const Input* field = find(name, presence);
  if (field == nullptr) {
    return;
  }
  if (!field->is_string() || !without_nul(field->get_ref<const std::string&>())) {
    refuse(name, "must be a string without NUL");
    return;
  }
  out = field->get<std::string>();
}

void Fields::read_name(const char* name, std::string& out) const {
  read(name, out, Presence::required);
  if (out.empty()) {
    refuse(name, "must not be empty");
  }
}

void Fields::read(const char* name, bool& out) const {
  const Input* field = find(name);
  if (field == nullptr) {
    return;
  }
  if (!field->is_boolean()) {
    refuse(name, "must be true or false");
    return;
  }
  out = field->get<bool>();
}

void Fields::read(const char* name, std::vector<std::string>& out) const {
  const Input* field = find(name);
  if (field == nullptr) {
    return;
  }
  const bool strings = field->is_array() && std::ranges::all_of(*field, [](const Input& item) {
                         return item.is_string() && without_nul(item.get_ref<const std::string&>());
                       });
  if (!strings) {
    refuse(name, "must be a list of strings without NUL");
    return;
  }
  out = field->get<std::vector<std::string>>();
}

void Fields::read_number(const char* name, double& out, double low, double high) const {
  const Input* field = find(name);
  if (field == nullptr) {
    return;
  }
  const double number = field->is_number() ? field->get<double>() : std::nan("");
  if (!(number >= low && number <= high)) {
    refuse(name, fmt::format("must be a number from {} to {}", low, high));
    return;
  }
  out = number;
}

void Fields::read_integer(const char* name, std::int64_t& out, std::int64_t low, std::int64_t high,
                          Presence presence) const {
  const Input* field = find(name, presence);
  if (field == nullptr) {
    return;
  }
  const bool fits = field->is_number_integer() &&
                    (!field->is_number_unsigned() ||
                     field->get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
  if (!fits || field->get<std::int64_t>() < low || field->get<std::int64_t>() > high) {
    refuse(name, fmt::format("must be an integer from {} to {}", low, high));
    return;
  }
  out = field->get<std::int64_t>();
}

void Fields::read_address(const char* name, std::optional<std::uint64_t>& out) const {
  std::string text;
  read(name, text);
  if (text.empty()) {
    return;
  }
  std::uint64_t address = 0;
  const char* const end = text.data() + text.size();
  const bool prefixed = text.starts_with("0x") && text.size() > 2;
  if (prefixed) {
    const auto [last, error] = std::from_chars(text.data() + 2, end, address, 16);
    if (error == std::errc{} && last == end) {
      out = address;
      return;
    }
  }
  refuse(name, "must be an address such as 0x401136");
}

void Fields::read_interval(const char* name, std::optional<std::pair<double, double>>& out) const {
  const Input* field = find(name);
  if (field == nullptr) {
    return;
  }
  const bool pair =
      field->is_array() && field->size() == 2 && (*field)[0].is_number() && (*field)[1].is_number();
  if (!pair || (*field)[0].get<double>() < 0 ||
      (*field)[0].get<double>() > (*field)[1].get<double>()) {
    refuse(name, "must be [low, high] with 0 <= low <= high");
    return;
  }
  out = {(*field)[0].get<double>(), (*field)[1].get<double>()};
}

const Input* Fields::find_object(const char* name) const {
  const Input* field = find(name);
  if (field != nullptr && !field->is_object()) {
    refuse(name, "must be an object of strings");
    return nullptr;
  }
  return field;
}

void Fields::read(const char* name, std::map<std::string, std::string>& out) const {
  const Input* field = find_object(name);
  if (field == nullptr) {
    return;
  }
  for (const auto& [key, value] : field->items()) {
    if (!value.is_string()) {
      refuse(name, "must be an object of strings");
      return;
    }
    out[key] = value.get<std::string>();
  }
}

void Fields::read_environment(const char* name, std::vector<std::string>& out) const {
  const Input* field = find_object(name);
  if (field == nullptr) {
    return;
  }
  for (const auto& [variable, value] : field->items()) {
    if (!value.is_string() || variable.empty() || !without_nul(variable) ||
        variable.find('=') != std::string::npos ||
        !without_nul(value.get_ref<const std::string&>())) {
      refuse(name, "must hold names without '=' and strings without NUL");
      return;
    }
    out.push_back(fmt::format("{}={}", variable, value.get_ref<const std::string&>()));
  }
}

void Fields::read_word(const char* name, std::string& out,
                       const std::vector<std::string>& words) const {
  std::string text;
  read(name, text);
  if (text.empty() && !has(name)) {
    return;
  }
  if (std::ranges::find(words, text) == words.end()) {
    refuse(name, fmt::format("must be one of {}", fmt::join(words, ", ")));
    return;
  }
  out = text;
}

Fields Fields::child(const char* name) const {
  const Input* field = find(name);
  std::string path = path_.empty() ? name : fmt::format("{}.{}", path_, name);
  return {field == nullptr ? absent : *field, std::move(path), fault_};
}

Json Fields::token(const char* name) const {
  const Input* field = find(name);
  if (field == nullptr) {
    return nullptr;
  }
  Json token = token_of(*field);
  if (token.is_null()) {
    refuse(name, "must be a string or an integer");
  }
  return token;
}

} // namespace ptlens::server
