// Prints JSON with nlohmann's printer, except lists that are text already.
#include "export/json/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace ptlens::exporting {
namespace {

std::string printed(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Objects may contain lists that are text already; lists do not.
void append(const Json& json, std::string& text) {
  if (json.is_binary()) {
    const Json::binary_t& written = json.get_binary();
    text.append(written.begin(), written.end());
    return;
  }
  if (!json.is_object()) {
    text += printed(json);
    return;
  }
  text += '{';
  const char* before = "";
  for (const auto& [name, value] : json.items()) {
    text += std::exchange(before, ",");
    text += printed(Json(name));
    text += ':';
    append(value, text);
  }
  text += '}';
}

bool is_plain(char byte) {
  return byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\';
}

} // namespace

std::string dump(const Json& json) {
  std::string text;
  append(json, text);
  return text;
}

void JsonRows::open() {
  if (text_.back() == '}') {
    put(static_cast<char>(between_));
  }
  put('{');
}

void JsonRows::key(std::string_view name) {
  if (text_.back() != '{') {
    put(',');
  }
  put('"');
  put(name);
  put("\":");
}

void JsonRows::field(std::string_view name, std::optional<std::uint64_t> value) {
  if (value) {
    field(name, *value);
  } else {
    field(name, nullptr);
  }
}

void JsonRows::field(std::string_view name, std::uint64_t first,
                     std::optional<std::uint64_t> second) {
  key(name);
  put('[');
  number(first);
  put(',');
  if (second) {
    number(*second);
  } else {
    put("null");
  }
  put(']');
}

void JsonRows::field(std::string_view name, double value) {
  key(name);
  if (!std::isfinite(value)) {
    put("null");
    return;
  }
  constexpr std::size_t longest = 32;
  std::array<char, longest> digits{};
  const char* const end = fmt::format_to(digits.data(), "{}", value);
  const std::string_view number(digits.data(), end);
  put(number);
  if (number.find_first_of(".e") == std::string_view::npos) {
    put(".0");
  }
}

void JsonRows::field(std::string_view name, std::string_view value) {
  key(name);
  if (std::ranges::all_of(value, is_plain)) {
    put('"');
    put(value);
    put('"');
  } else {
    put(printed(Json(value)));
  }
}

void JsonRows::field(std::string_view name, std::nullptr_t /*value*/) {
  key(name);
  put("null");
}

Json JsonRows::take() {
  put(']');
  return Json::binary(std::move(text_));
}

std::string JsonRows::take_lines() {
  std::string lines(text_.begin() + 1, text_.end());
  text_.resize(1);
  if (!lines.empty()) {
    lines += '\n';
  }
  return lines;
}

} // namespace ptlens::exporting
