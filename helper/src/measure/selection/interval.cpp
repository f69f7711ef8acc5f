#include "measure/selection/interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace ptlens::measure {

namespace {

struct Unit {
  std::string_view word;
  std::uint64_t nanoseconds;
};
constexpr std::array<Unit, 5> units = {
    {{"ns", 1}, {"us", 1'000}, {"\u00b5s", 1'000}, {"ms", 1'000'000}, {"s", second_ns}}};

constexpr std::string_view digits = "0123456789";

std::optional<std::uint64_t> parse_whole(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && rest == end ? std::optional(value) : std::nullopt;
}

// Returns the duration in ns; nothing where it is not a whole number of ns. `unit`: of a number
// without one.
std::optional<std::uint64_t> parse_nanoseconds(std::string_view text, std::uint64_t unit) {
  const std::size_t unit_at = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view number = text.substr(0, unit_at);
  const std::string_view word = text.substr(unit_at);
  const auto named = std::ranges::find(units, word, &Unit::word);
  if (named == units.end() && !word.empty()) {
    return std::nullopt;
  }
  const std::uint64_t of_one = word.empty() ? unit : named->nanoseconds;
  const std::size_t point = std::min(number.find('.'), number.size());
  std::string_view fraction = number.substr(std::min(point + 1, number.size()));
  if (point == 0 || (point != number.size() && fraction.empty()) ||
      fraction.find_first_not_of(digits) != std::string_view::npos) {
    return std::nullopt;
  }
  const std::optional<std::uint64_t> whole = parse_whole(number.substr(0, point));
  std::uint64_t total = 0;
  if (!whole || __builtin_mul_overflow(*whole, of_one, &total)) {
    return std::nullopt;
  }
  while (fraction.ends_with('0')) {
    fraction.remove_suffix(1);
  }
  std::uint64_t digit_ns = of_one; // the value of the digit
  for (const char digit : fraction) {
    constexpr std::uint64_t base = 10;
    if (digit_ns % base != 0) {
      return std::nullopt;
    }
    digit_ns /= base;
    const auto value = static_cast<std::uint64_t>(digit - '0') * digit_ns;
    if (__builtin_add_overflow(total, value, &total)) {
      return std::nullopt;
    }
  }
  return total;
}

constexpr std::string_view interval_remedy =
    "write it as A,B with A no greater than B, each in ns or with a unit: 100us,1.5ms";
constexpr std::string_view seconds_remedy =
    "write it as A,B with A no greater than B, each in seconds or with a unit: 0.5,1.5 or "
    "100ms,1.5s";
constexpr std::string_view half_open_remedy =
    "write it as A,B with A less than B, each in ns or with a unit: 100us,1.5ms";
constexpr std::string_view count_remedy = "write whole numbers, MIN no greater than MAX: G,2,9";

// Parses "A,B" or, when `low_only` is allowed, "A". `value` parses a bound.
template <class Value>
Result<Interval> parse(std::string_view text, bool low_only, std::string_view remedy,
                       const Value& value) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos && !low_only) {
    return std::unexpected(bad_text("not an interval", text, remedy));
  }
  const std::string_view low = text.substr(0, comma);
  const std::string_view high =
      comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  if (low.empty() && high.empty()) {
    return std::unexpected(bad_text("the interval has no bounds", text, remedy));
  }
  Interval interval;
  for (const auto& [bound, result] :
       {std::pair(low, &interval.low), std::pair(high, &interval.high)}) {
    if (bound.empty()) {
      continue;
    }
    const std::optional<std::uint64_t> parsed = value(bound);
    if (!parsed) {
      return std::unexpected(bad_text("not a number that can be used here", bound, remedy));
    }
    *result = *parsed;
  }
  if (interval.low > interval.high) {
    return std::unexpected(bad_text("the interval ends before it begins", text, remedy));
  }
  return interval;
}

Result<Interval> parse_half_open(std::string_view text, bool low_only) {
  auto interval = parse(text, low_only, half_open_remedy,
                        [](std::string_view bound) { return parse_nanoseconds(bound, 1); });
  const std::size_t comma = text.find(',');
  if (interval && comma != std::string_view::npos && comma + 1 < text.size()) {
    if (interval->low == interval->high) {
      return std::unexpected(
          bad_text("the interval is empty: its end does not belong to it", text, half_open_remedy));
    }
    --interval->high;
  }
  return interval;
}

} // namespace

Error bad_text(std::string_view what, std::string_view text, std::string_view remedy) {
  constexpr std::size_t shown_bytes = 200;
  return {.kind = Error::Kind::bad_input,
          .message = fmt::format("{}: \"{}\"", what, text.substr(0, shown_bytes)),
          .file = {},
          .offset = std::nullopt,
          .remedy = std::string(remedy)};
}

Result<Interval> parse_interval(std::string_view text, std::uint64_t unit) {
  return parse(text, false, unit == second_ns ? seconds_remedy : interval_remedy,
               [unit](std::string_view bound) { return parse_nanoseconds(bound, unit); });
}

Result<Interval> parse_half_open(std::string_view text) {
  return parse_half_open(text, false);
}

Result<Interval> parse_duration_bounds(std::string_view text) {
  return parse_half_open(text, true);
}

Result<Interval> parse_count_bounds(std::string_view text) {
  return parse(text, true, count_remedy, parse_whole);
}

Result<std::uint64_t> parse_duration(std::string_view text) {
  const auto parsed = parse_nanoseconds(text, 1);
  return parsed
             ? Result<std::uint64_t>(*parsed)
             : std::unexpected(bad_text("not a duration", text, "write a number of ns, or 1.5ms"));
}

std::string duration_text(std::uint64_t ns) {
  const Unit* unit = &units.front();
  for (const Unit& larger : units) {
    if (ns >= larger.nanoseconds && larger.word != "\u00b5s") {
      unit = &larger;
    }
  }
  std::string text = fmt::format("{}", ns / unit->nanoseconds);
  if (const std::uint64_t rest = ns % unit->nanoseconds; rest != 0) {
    const std::size_t places = fmt::formatted_size("{}", unit->nanoseconds) - 1;
    std::string fraction = fmt::format(".{:0{}}", rest, places);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    text += fraction;
  }
  return text.append(unit->word);
}

std::string interval_text(const Interval& interval) {
  return fmt::format("{},{}", interval.low == 0 ? "" : duration_text(interval.low),
                     interval.high == UINT64_MAX ? "" : duration_text(interval.high));
}

std::string half_open_text(const Interval& interval) {
  return fmt::format("{},{}", interval.low == 0 ? "" : duration_text(interval.low),
                     interval.high == UINT64_MAX ? "" : duration_text(interval.high + 1));
}

std::string count_bounds_text(const Interval& interval) {
  return interval.high == UINT64_MAX ? fmt::format("{}", interval.low)
                                     : fmt::format("{},{}", interval.low, interval.high);
}

} // namespace ptlens::measure
