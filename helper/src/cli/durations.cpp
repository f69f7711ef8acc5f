#include "cli/durations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>
#include <utility>

namespace ptlens::cli {

Result<double> parse_duration(std::string_view text, bool unit_required) {
  static constexpr std::array<std::pair<std::string_view, double>, 8> units = {{{"ns", 1e-9},
                                                                                {"us", 1e-6},
                                                                                {"µs", 1e-6},
                                                                                {"ms", 1e-3},
                                                                                {"s", 1},
                                                                                {"m", 60},
                                                                                {"min", 60},
                                                                                {"h", 3600}}};
  const auto refused = [&](std::string what) {
    return std::unexpected(Error{.kind = Error::Kind::bad_input,
                                 .message = fmt::format("\"{}\" {}", text, std::move(what)),
                                 .remedy = "write a number and a unit, such as 500ms, 2s or 1m"});
  };
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(number) || number < 0) {
    return refused("is not a duration");
  }
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  if (unit.empty()) {
    return unit_required ? Result<double>(refused("has no unit")) : number;
  }
  for (const auto& [name, seconds] : units) {
    if (unit == name) {
      return number * seconds;
    }
  }
  return refused(fmt::format("has the unknown unit {}", unit));
}

} // namespace ptlens::cli
