// Ranges of times and of counts, and their text forms.
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace ptlens::measure {

struct Interval { // [low, high], both included
  std::uint64_t low = 0;
  std::uint64_t high = UINT64_MAX;

  [[nodiscard]] bool contains(std::uint64_t value) const { return low <= value && value <= high; }
  [[nodiscard]] bool has_bounds() const { return low != 0 || high != UINT64_MAX; }

  bool operator==(const Interval&) const = default;
};

inline constexpr std::uint64_t second_ns = 1'000'000'000;

// Parses "A,B", "A," or ",B". Each bound is a number with a unit (ns, us, ms, s; "1.5ms"), or a
// number of `unit` ns. Errors: bad_input for anything else, for fractions of a ns, and for A > B.
[[nodiscard]] Result<Interval> parse_interval(std::string_view text, std::uint64_t unit = 1);

// Parses the same as A <= value < B. Errors: also where A = B.
[[nodiscard]] Result<Interval> parse_half_open(std::string_view text);

// Parses what follows a name: "MIN", "MIN,", "MIN,MAX" or ",MAX". Of durations as parse_half_open()
// does; of counts with both ends included.
[[nodiscard]] Result<Interval> parse_duration_bounds(std::string_view text);
[[nodiscard]] Result<Interval> parse_count_bounds(std::string_view text);

// Parses "1.5ms", or a number of ns. Errors: bad_input.
[[nodiscard]] Result<std::uint64_t> parse_duration(std::string_view text);

// Returns the error of a text that cannot be parsed; shows the beginning of the text.
[[nodiscard]] Error bad_text(std::string_view what, std::string_view text, std::string_view remedy);

// Each is parsed as the same again.
[[nodiscard]] std::string duration_text(std::uint64_t ns); // "1.5ms"
[[nodiscard]] std::string interval_text(const Interval& interval);
[[nodiscard]] std::string half_open_text(const Interval& interval);
[[nodiscard]] std::string count_bounds_text(const Interval& interval);

} // namespace ptlens::measure
