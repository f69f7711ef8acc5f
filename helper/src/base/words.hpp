// The words of an enumeration's values, as JSON, the command line and files write them: one table,
// which is read in both directions.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace ptlens {

template <class Value>
struct Word {
  Value value;
  const char* word;
};

// Returns the word of the value; "" where the table does not have it.
template <class Value, std::size_t count>
[[nodiscard]] constexpr const char* word_of(const Word<Value> (&words)[count], Value value) {
  const auto* const found = std::ranges::find(words, value, &Word<Value>::value);
  return found == std::end(words) ? "" : found->word;
}

// Returns the value that has the word.
template <class Value, std::size_t count>
[[nodiscard]] constexpr std::optional<Value> value_of(const Word<Value> (&words)[count],
                                                      std::string_view word) {
  const auto* const found = std::ranges::find(
      words, word, [](const Word<Value>& each) -> std::string_view { return each.word; });
  return found == std::end(words) ? std::nullopt : std::optional(found->value);
}

} // namespace ptlens
