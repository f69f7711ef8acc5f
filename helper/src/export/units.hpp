// Figures for people: durations in the unit that fits, counts with thousands separators. UTF-8.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ptlens::exporting {

// Returns the number as a double, for figures that are divided or formatted.
[[nodiscard]] constexpr double as_double(std::uint64_t number) {
  return static_cast<double>(number);
}

inline constexpr double ns_per_s = 1e9;

// Three significant digits in ns, µs, ms or s: "0 ns", "42 ns", "1.23 µs", "12.3 ms", "1,234 s".
[[nodiscard]] std::string duration(double ns);

// "1.23 µs ± 42 ns" where the uncertainty is at least a twentieth of the figure, else as
// duration().
[[nodiscard]] std::string duration(double ns, std::optional<std::uint64_t> uncertainty_ns);

// "10,000".
[[nodiscard]] std::string count(std::uint64_t number);
// "" for none: a column of zeros hides the one that is not.
[[nodiscard]] std::string some(std::uint64_t number);

// "10,000 calls", "1 call": `noun` in the singular; its plural adds an s.
[[nodiscard]] std::string count(std::uint64_t number, std::string_view noun);

// "12 %", "0.3 %", "250 %", "12,302 %"; `percent` of 100.
[[nodiscard]] std::string percentage(double percent);

// "512 B", "1.50 KiB", "12.0 MiB".
[[nodiscard]] std::string bytes(std::uint64_t number);

// "0x401136".
[[nodiscard]] std::string hexadecimal(std::uint64_t address);

// The text without control characters, which a binary's symbol names may hold: each becomes '?'.
[[nodiscard]] std::string printable(std::string_view text);

// The part behind the last slash.
[[nodiscard]] std::string_view base_name(std::string_view path);

} // namespace ptlens::exporting
