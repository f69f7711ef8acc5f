// What the helper says to people in the client's language: the client hands over its translations
// of the texts, by the English one. Without them, and where one is missing, it is English.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace ptlens {

// Copies share the translations.
class Words {
public:
  Words() = default;
  explicit Words(std::map<std::string, std::string> translations)
      : translations_(
            std::make_shared<const std::map<std::string, std::string>>(std::move(translations))) {}

  // The text with {0}, {1}, … replaced by the values; a number that has no value stays as it is.
  template <typename... Values>
  std::string operator()(std::string_view text, const Values&... values) const {
    return fill(text, {std::string_view(values)...});
  }

private:
  [[nodiscard]] std::string fill(std::string_view text,
                                 std::initializer_list<std::string_view> values) const;

  std::shared_ptr<const std::map<std::string, std::string>> translations_;
};

} // namespace ptlens
