// Figures for people.
#include "export/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace ptlens::exporting {

namespace {

// Puts a comma before every third digit of a whole number.
std::string grouped(std::string digits) {
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

struct Unit {
  double size;
  const char* name;
};

// Rounds to three significant digits, and moves on to the next unit where rounding reaches it.
template <std::size_t count>
std::string three_digits(double value, const std::array<Unit, count>& units, double step) {
  for (std::size_t index = 0; index < count; ++index) {
    const double scaled = value / units[index].size;
    const int decimals = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
    if (index + 1 < count && scaled >= (decimals == 0 ? step - 0.5 : step)) {
      continue;
    }
    const bool whole = index == 0 && std::floor(scaled) == scaled;
    std::string number = fmt::format("{:.{}f}", scaled, whole ? 0 : decimals);
    if (decimals == 0) {
      number = grouped(std::move(number));
    }
    return fmt::format("{} {}", number, units[index].name);
  }
  return {};
}

} // namespace

std::string duration(double ns) {
  if (!std::isfinite(ns)) {
    return "unknown";
  }
  if (ns < 0) {
    return "-" + duration(-ns);
  }
  static constexpr std::array<Unit, 4> units{Unit{1, "ns"}, Unit{1e3, "µs"}, Unit{1e6, "ms"},
                                             Unit{1e9, "s"}};
  return three_digits(ns, units, 1000);
}

std::string duration(double ns, std::optional<std::uint64_t> uncertainty_ns) {
  if (uncertainty_ns && *uncertainty_ns > 0 && static_cast<double>(*uncertainty_ns) * 20 >= ns) {
    return fmt::format("{} ± {}", duration(ns), duration(static_cast<double>(*uncertainty_ns)));
  }
  return duration(ns);
}

std::string count(std::uint64_t number) {
  return grouped(fmt::format("{}", number));
}

std::string some(std::uint64_t number) {
  return number == 0 ? "" : count(number);
}

std::string count(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", count(number), noun, number == 1 ? "" : "s");
}

std::string percentage(double percent) {
  if (!std::isfinite(percent)) {
    return "unknown";
  }
  if (percent > 0 && percent < 0.05) {
    return "< 0.1 %";
  }
  if (percent >= 999.5 && percent < 1e15) {
    return count(static_cast<std::uint64_t>(std::nearbyint(percent))) + " %";
  }
  return fmt::format("{:.{}f} %", percent, percent > 0 && percent < 9.95 ? 1 : 0);
}

std::string bytes(std::uint64_t number) {
  static constexpr std::array<Unit, 5> units{Unit{1, "B"}, Unit{1024.0, "KiB"},
                                             Unit{1048576.0, "MiB"}, Unit{1073741824.0, "GiB"},
                                             Unit{1099511627776.0, "TiB"}};
  return three_digits(static_cast<double>(number), units, 1024);
}

std::string hexadecimal(std::uint64_t address) {
  return fmt::format("{:#x}", address);
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool has_next = at + 1 < text.size();
    if (byte == 0xc2 && has_next && static_cast<unsigned char>(text[at + 1]) < 0xa0) {
      result += '?'; // U+0080 to U+009F
      ++at;
    } else {
      result += byte < 0x20 || byte == 0x7f ? '?' : text[at];
    }
  }
  return result;
}

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos || slash + 1 == path.size() ? path
                                                                     : path.substr(slash + 1);
}

} // namespace ptlens::exporting
