// A remark about a recording or an answer: a stable code, the values in it, and the English text.
// Programs recognise a note by its code, never by its text.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptlens {

struct Note {
  std::string code;                   // for example "no_switch_records"
  std::vector<std::string> arguments; // the values in the text, in order, as they are shown
  std::string text;

  bool operator==(const Note&) const = default;
};

// Returns the note with the arguments formatted and filled into the text, one for each {}.
template <typename... Arguments>
[[nodiscard]] Note make_note(std::string_view code, fmt::format_string<const Arguments&...> text,
                             const Arguments&... arguments) {
  return {.code = std::string(code),
          .arguments = {fmt::format("{}", arguments)...},
          .text = fmt::format(text, arguments...)};
}

} // namespace ptlens
