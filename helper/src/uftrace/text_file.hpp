// The small files of a uftrace folder: texts with an entry on each line.
#pragma once

#include "base/error.hpp"

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ptlens::uftrace {

inline constexpr const char* record_again =
    "the folder is damaged: record again with `uftrace record` or `ptlens record`";

// Reads a regular file of at most 64 MiB. An empty file is an empty text. Errors: not_found,
// no_rights, bad_input (too large, not a regular file).
[[nodiscard]] Result<std::string> read_text(const std::string& path);

// Returns a bad_input error about the file.
[[nodiscard]] Error damaged(const std::string& path, std::uint64_t offset, std::string message);

// Takes a text apart from its front. Each step returns nothing, and takes nothing, where the text
// goes on differently.
class Scanner {
public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  [[nodiscard]] std::string_view rest() const { return rest_; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  bool skip(std::string_view expected) {
    if (!rest_.starts_with(expected)) {
      return false;
    }
    rest_.remove_prefix(expected.size());
    return true;
  }

  void skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
  }

  // Takes everything before the next space.
  std::string_view word() {
    const std::string_view taken = rest_.substr(0, rest_.find_first_of(" \t"));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  template <std::integral T>
  std::optional<T> number(int base = 10) {
    T value = 0;
    const auto [end, failed] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
    if (failed != std::errc{}) {
      return std::nullopt;
    }
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

private:
  std::string_view rest_;
};

// Calls `use(line, offset)` for each line, without its newline, while it returns true.
template <class Use>
void each_line(std::string_view text, const Use& use) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (!use(text.substr(begin, end - begin), begin)) {
      return;
    }
    begin = end + 1;
  }
}

} // namespace ptlens::uftrace
