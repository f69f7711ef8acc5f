// Translations. Values are put in by hand and not by a formatting library: what a client sends is
// no format string.
#include "base/words.hpp"

#include <cstddef>

namespace ptlens {

std::string Words::fill(std::string_view text,
                        std::initializer_list<std::string_view> values) const {
  std::string_view form = text;
  if (translations_) {
    const auto translated = translations_->find(std::string(text));
    form = translated == translations_->end() ? text : translated->second;
  }
  std::string filled;
  for (std::size_t at = 0; at < form.size();) {
    const bool placeholder = form[at] == '{' && at + 2 < form.size() && form[at + 1] >= '0' &&
                             form[at + 1] <= '9' && form[at + 2] == '}';
    const std::size_t index = placeholder ? static_cast<std::size_t>(form[at + 1] - '0') : 0;
    if (placeholder && index < values.size()) {
      filled += values.begin()[index];
      at += 3;
    } else {
      filled += form[at];
      ++at;
    }
  }
  return filled;
}

} // namespace ptlens
