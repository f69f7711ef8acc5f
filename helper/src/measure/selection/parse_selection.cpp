// The text forms of selections.
#include "measure/selection/selection.hpp"
#include "symbols/names/name_shape.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

namespace ptlens::measure {

namespace {

struct Unit {
  std::string_view word;
  std::uint64_t nanoseconds;
};
constexpr std::array<Unit, 6> units = {{{"", 1},
                                        {"ns", 1},
                                        {"us", 1'000},
                                        {"\u00b5s", 1'000},
                                        {"ms", 1'000'000},
                                        {"s", 1'000'000'000}}};

constexpr std::string_view digits = "0123456789";

// Returns the duration in ns; nothing where it is not a whole number of ns.
std::optional<std::uint64_t> parse_duration(std::string_view text) {
  const std::size_t unit_at = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view number = text.substr(0, unit_at);
  const Unit* unit = nullptr;
  for (const Unit& candidate : units) {
    if (candidate.word == text.substr(unit_at)) {
      unit = &candidate;
    }
  }
  const std::size_t point = std::min(number.find('.'), number.size());
  std::string_view fraction = number.substr(std::min(point + 1, number.size()));
  if (unit == nullptr || point == 0 || (point != number.size() && fraction.empty()) ||
      fraction.find_first_not_of(digits) != std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view integer = number.substr(0, point);
  std::uint64_t whole = 0;
  if (std::from_chars(integer.data(), integer.data() + integer.size(), whole).ec != std::errc{}) {
    return std::nullopt;
  }
  std::uint64_t total = 0;
  if (__builtin_mul_overflow(whole, unit->nanoseconds, &total)) {
    return std::nullopt;
  }
  while (fraction.ends_with('0')) {
    fraction.remove_suffix(1);
  }
  std::uint64_t digit_ns = unit->nanoseconds; // the value of the digit
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

constexpr std::size_t shown_bytes = 200;

Error bad(std::string_view what, std::string_view text, std::string_view remedy) {
  return {.kind = Error::Kind::bad_input,
          .message = fmt::format("{}: \"{}\"", what, text.substr(0, shown_bytes)),
          .file = {},
          .offset = std::nullopt,
          .remedy = std::string(remedy)};
}

constexpr std::string_view interval_remedy =
    "write it as A,B with A no greater than B, each in ns or with a unit: 100us,1.5ms";

// Parses "A,B" or, when `low_only` is allowed, "A".
Result<Interval> parse(std::string_view text, bool low_only) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos && !low_only) {
    return std::unexpected(bad("not an interval", text, interval_remedy));
  }
  const std::string_view low = text.substr(0, comma);
  const std::string_view high =
      comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  if (low.empty() && high.empty()) {
    return std::unexpected(bad("the interval has no bounds", text, interval_remedy));
  }
  Interval interval;
  for (const auto& [bound, value] :
       {std::pair(low, &interval.low), std::pair(high, &interval.high)}) {
    if (bound.empty()) {
      continue;
    }
    const std::optional<std::uint64_t> parsed = parse_duration(bound);
    if (!parsed) {
      return std::unexpected(bad("not a time", bound, interval_remedy));
    }
    *value = *parsed;
  }
  if (interval.low > interval.high) {
    return std::unexpected(bad("the interval ends before it begins", text, interval_remedy));
  }
  return interval;
}

} // namespace

Result<Interval> parse_interval(std::string_view text) {
  return parse(text, false);
}

Result<void> parse_ancestor(std::string_view text, Selection& selection) {
  std::size_t end = 0;
  while (end < text.size() && text[end] != ',') {
    const bool opens = text[end] == '(' || text[end] == '<' || text[end] == '[' || text[end] == '{';
    const std::size_t operator_name = symbols::operator_end(text, end);
    end = operator_name != end ? operator_name : opens ? symbols::group_end(text, end) : end + 1;
  }
  if (end == 0) {
    return std::unexpected(
        bad("the function's name is missing", text, "write it as FUNCTION or FUNCTION,MIN,MAX"));
  }
  Interval latency;
  if (end < text.size()) {
    Result<Interval> parsed = parse(text.substr(end + 1), true);
    if (!parsed) {
      return std::unexpected(std::move(parsed.error()));
    }
    latency = *parsed;
  }
  selection.ancestor = text.substr(0, end);
  selection.ancestor_latency = latency;
  return {};
}

} // namespace ptlens::measure
