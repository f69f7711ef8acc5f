// Figures for people.
#include "export/text/units.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace ptlens::exporting {

namespace {

// Returns the digits of a whole number with a comma before every third digit.
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

// Rounds to three significant digits, and uses the next unit where rounding reaches it.
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

// A number as mantissa × 10^exponent, with the shortest mantissa that identifies the double.
struct Decimal {
  std::uint64_t mantissa = 0;
  int exponent = 0;
};

// `value` is not negative and below 10^18.
Decimal decimal_of(double value) {
  std::array<char, 32> buffer{};
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                     std::chars_format::scientific);
  const std::string_view number(buffer.data(), written.ptr);
  const std::size_t mark = number.find('e');
  Decimal decimal;
  for (const char character : number.substr(0, mark)) {
    if (character != '.') {
      decimal.mantissa = decimal.mantissa * 10 + static_cast<std::uint64_t>(character - '0');
    }
  }
  const std::string_view sign_and_digits = number.substr(mark + 1);
  std::from_chars(sign_and_digits.data() + 1, sign_and_digits.data() + sign_and_digits.size(),
                  decimal.exponent);
  decimal.exponent = sign_and_digits.front() == '-' ? -decimal.exponent : decimal.exponent;
  decimal.exponent -= mark > 1 ? static_cast<int>(mark) - 2 : 0; // digits after the point
  return decimal;
}

std::uint64_t power_of_ten(int exponent) {
  std::uint64_t power = 1;
  for (int index = 0; index < exponent; ++index) {
    power *= 10;
  }
  return power;
}

// Returns the number in units of 10^place, rounded half to even in decimal.
std::uint64_t rounded(const Decimal& number, int place) {
  constexpr int most_digits = 18;
  const int dropped = place - number.exponent;
  if (dropped <= 0) {
    return number.mantissa * power_of_ten(-dropped);
  }
  if (dropped > most_digits) {
    return 0;
  }
  const std::uint64_t divisor = power_of_ten(dropped);
  const std::uint64_t quotient = number.mantissa / divisor;
  const std::uint64_t rest = number.mantissa % divisor;
  const std::uint64_t half = divisor / 2;
  const bool up = rest > half || (rest == half && quotient % 2 == 1);
  return quotient + (up ? 1 : 0);
}

} // namespace

std::string duration(double ns) {
  constexpr double longest = 1e18; // 31 years
  if (!std::isfinite(ns)) {
    return "unknown";
  }
  if (ns < 0) {
    return "-" + duration(-ns);
  }
  if (ns >= longest) {
    return grouped(fmt::format("{:.0f}", ns / ns_per_s)) + " s";
  }
  static constexpr std::array<const char*, 4> units{"ns", "µs", "ms", "s"};
  const Decimal number = decimal_of(ns);
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    const int exponent = static_cast<int>(unit) * 3;
    const bool whole = unit == 0 && std::floor(ns) == ns;
    for (int decimals = whole ? 0 : 2; decimals >= 0; --decimals) {
      const std::uint64_t figure = rounded(number, exponent - decimals);
      constexpr std::uint64_t beyond_three_digits = 1000;
      if (figure < beyond_three_digits || (decimals == 0 && unit + 1 == units.size())) {
        const std::uint64_t scale = power_of_ten(decimals);
        std::string text = grouped(fmt::format("{}", figure / scale));
        if (decimals > 0) {
          text += fmt::format(".{:0{}}", figure % scale, decimals);
        }
        return fmt::format("{} {}", text, units[unit]);
      }
    }
  }
  return {};
}

std::string figure(double ns, double uncertainty_ns) {
  constexpr double negligible = 20;
  if (uncertainty_ns > 0 && uncertainty_ns >= ns) {
    return "< " + duration(ns + uncertainty_ns);
  }
  if (uncertainty_ns > 0 && uncertainty_ns * negligible >= ns) {
    return fmt::format("{} ± {}", duration(ns), duration(uncertainty_ns));
  }
  return duration(ns);
}

std::string brief_figure(double ns, double uncertainty_ns) {
  return uncertainty_ns > 0 && uncertainty_ns >= ns ? figure(ns, uncertainty_ns) : duration(ns);
}

std::string slower(double factor) {
  constexpr double least = 1.01;
  constexpr double most = 9.995;
  if (factor < least) {
    return "less than 1.01× slower";
  }
  if (factor >= most) {
    return "at least 10× slower";
  }
  return fmt::format("{:.2f}× slower", factor);
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
