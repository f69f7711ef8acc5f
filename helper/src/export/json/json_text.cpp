// Prints JSON with nlohmann's printer, except lists that are text already.
#include "export/json/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

namespace ptlens::exporting {
namespace {

std::string printed(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Calls `put` with each part of the text. Objects may contain lists that are text already; lists do
// not.
template <class Put>
void each_part(const Json& json, const Put& put) {
  if (json.is_binary()) {
    const Json::binary_t& text = json.get_binary();
    put({reinterpret_cast<const char*>(text.data()), text.size()}); // NOLINT: bytes are text
    return;
  }
  if (!json.is_object()) {
    put(printed(json));
    return;
  }
  put("{");
  std::string_view before;
  for (const auto& [name, value] : json.items()) {
    put(std::exchange(before, ","));
    put(printed(Json(name)));
    put(":");
    each_part(value, put);
  }
  put("}");
}

// Returns the size of the lists that are text already.
std::size_t written_bytes(const Json& json) {
  if (json.is_binary()) {
    return json.get_binary().size();
  }
  std::size_t bytes = 0;
  if (json.is_object()) {
    for (const Json& value : json) {
      bytes += written_bytes(value);
    }
  }
  return bytes;
}

bool is_plain(char byte) {
  return byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\';
}

} // namespace

std::string dump(const Json& json) {
  std::string text;
  constexpr std::size_t usual = 4096; // bytes of the rest
  text.reserve(written_bytes(json) + usual);
  each_part(json, [&](std::string_view part) { text += part; });
  return text;
}

void print(const Json& json, std::ostream& out) {
  each_part(json, [&](std::string_view part) {
    out.write(part.data(), static_cast<std::streamsize>(part.size()));
  });
}

void JsonRows::open() {
  if (last() == '}') {
    put(static_cast<char>(between_));
  }
  put('{');
}

void JsonRows::key(std::string_view name) {
  constexpr std::size_t around = 4; // ,"":
  std::uint8_t* to = room(name.size() + around);
  if (to[-1] == '{') {
    --size_;
  } else {
    *to++ = ',';
  }
  *to++ = '"';
  std::memcpy(to, name.data(), name.size());
  to += name.size();
  *to++ = '"';
  *to = ':';
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

void JsonRows::tree(std::string_view name, const Json& value) {
  key(name);
  put(printed(value));
}

Json JsonRows::take() {
  put(']');
  text_.resize(size_);
  return Json::binary(std::move(text_));
}

std::string JsonRows::take_lines() {
  std::string lines(text_.begin() + 1, text_.begin() + static_cast<std::ptrdiff_t>(size_));
  size_ = 1;
  if (!lines.empty()) {
    lines += '\n';
  }
  return lines;
}

} // namespace ptlens::exporting
