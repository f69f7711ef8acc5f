// What the helper says to people in the client's language: the client hands over its translations
// of the texts, by the English one. Without them, and where one is missing, it is English.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace ptlens::server {

class Words {
public:
  Words() = default;
  explicit Words(std::map<std::string, std::string> translations)
      : translations_(std::move(translations)) {}

  // The text with {0}, {1}, … replaced by the values; a number that has no value stays as it is.
  template <typename... Values>
  std::string operator()(std::string_view text, const Values&... values) const {
    return fill(text, {std::string_view(values)...});
  }

  // "10,000 calls", "1 call"; the same of gaps and records.
  [[nodiscard]] std::string calls(std::uint64_t number) const;
  [[nodiscard]] std::string gaps(std::uint64_t number) const;
  [[nodiscard]] std::string records(std::uint64_t number) const;

private:
  [[nodiscard]] std::string fill(std::string_view text,
                                 std::initializer_list<std::string_view> values) const;

  std::map<std::string, std::string> translations_;
};

} // namespace ptlens::server
