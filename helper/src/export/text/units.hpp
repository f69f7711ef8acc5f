// Figures for people: durations in a fitting unit, counts with thousands separators. UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ptlens::exporting {

// Returns the number as a double, for figures that are divided or formatted.
[[nodiscard]] constexpr double as_double(std::uint64_t number) {
  return static_cast<double>(number);
}

inline constexpr double ns_per_s = 1e9;

// Returns three significant digits in ns, µs, ms or s, rounded half to even in decimal: "0 ns",
// "42 ns", "1.23 µs", "12.3 ms", "1,234 s". test/tables/durations.json defines the texts for the
// helper and the extension.
[[nodiscard]] std::string duration(double ns);

// Returns a figure with its uncertainty: "1.23 µs ± 42 ns" where the uncertainty is at least a
// twentieth of the figure, "< 3.20 µs" (their sum) where it is not less than the figure, else the
// duration alone. test/tables/figures.json defines the texts for the helper and the extension.
[[nodiscard]] std::string figure(double ns, double uncertainty_ns);

// Returns the same without the uncertainty, for where it is shown elsewhere: "12.3 µs"; a figure
// that is not larger than its uncertainty remains "< 24.6 µs".
[[nodiscard]] std::string brief_figure(double ns, double uncertainty_ns);

// Returns "1.04× slower", "at least 10× slower" or "less than 1.01× slower"; also in that table.
[[nodiscard]] std::string slower(double factor);

// Returns "10,000".
[[nodiscard]] std::string count(std::uint64_t number);
// Returns "" for 0, so that the other values of a column are easy to see.
[[nodiscard]] std::string some(std::uint64_t number);

// Returns "10,000 calls" or "1 call". `noun` is singular; its plural adds an s.
[[nodiscard]] std::string count(std::uint64_t number, std::string_view noun);

// Returns "12 %", "0.3 %", "250 %" or "12,302 %".
[[nodiscard]] std::string percentage(double percent);

// Returns "512 B", "1.50 KiB" or "12.0 MiB".
[[nodiscard]] std::string bytes(std::uint64_t number);

// Returns "0x401136".
[[nodiscard]] std::string hexadecimal(std::uint64_t address);

// Returns the text with '?' for each control character, because a binary's symbol names may contain
// them.
[[nodiscard]] std::string printable(std::string_view text);

// Returns the part after the last slash.
[[nodiscard]] std::string_view base_name(std::string_view path);

} // namespace ptlens::exporting
