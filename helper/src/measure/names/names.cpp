// A name is matched against all functions; only the best kind of match counts.
#include "measure/names/names.hpp"

#include "symbols/names/name_shape.hpp"
#include "symbols/names/wanted_name.hpp"

#include <algorithm>
#include <charconv>
#include <ranges>

namespace ptlens::measure {

namespace {

std::optional<std::uint64_t> parse_address(std::string_view text) {
  constexpr int hexadecimal = 16;
  if (!text.starts_with("0x") && !text.starts_with("0X")) {
    return std::nullopt;
  }
  text.remove_prefix(2);
  std::uint64_t address = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), address, hexadecimal);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return address;
}

std::vector<std::string_view> path_components(std::string_view path) {
  std::vector<std::string_view> components;
  for (const auto part : path | std::views::split('/')) {
    const std::string_view component(part.begin(), part.end());
    if (!component.empty() && component != ".") {
      components.push_back(component);
    }
  }
  return components;
}

// Removes all but the functions whose binary is exactly `binary`; where there are none, all but
// those whose path shares most components with it.
void keep_nearest_binary(std::span<const stacks::FunctionInfo> functions, std::string_view binary,
                         std::vector<stacks::FunctionId>& found) {
  const auto nearness = [&](stacks::FunctionId function) {
    const std::string& path = functions[index_of(function)].binary;
    return path == binary ? std::string_view::npos : shared_path_end(path, binary);
  };
  std::size_t best = 0;
  for (const stacks::FunctionId function : found) {
    best = std::max(best, nearness(function));
  }
  std::erase_if(found, [&](stacks::FunctionId function) { return nearness(function) < best; });
}

} // namespace

FunctionSelector parse_selector(std::string_view text) {
  if (const auto address = parse_address(text)) {
    return {.name = {}, .address = address};
  }
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    if (const auto address = parse_address(text.substr(at + 1))) {
      return {.name = std::string(text.substr(0, at)), .address = address};
    }
  }
  return {.name = std::string(text), .address = std::nullopt};
}

std::vector<stacks::FunctionId> functions_named(const Measurement& measurement,
                                                const FunctionSelector& selector,
                                                std::string_view binary) {
  return functions_named(measurement.functions, selector, binary);
}

std::vector<stacks::FunctionId> functions_named(std::span<const stacks::FunctionInfo> functions,
                                                const FunctionSelector& selector,
                                                std::string_view binary) {
  std::vector<stacks::FunctionId> found;
  if (selector.name.empty() && !selector.address) {
    return found;
  }
  const symbols::WantedName wanted(selector.name);
  std::size_t best = symbols::WantedName::match_kinds;
  for (std::size_t index = 0; index < functions.size(); ++index) {
    const stacks::FunctionInfo& function = functions[index];
    if (selector.address && function.address != *selector.address) {
      continue;
    }
    if (!binary.empty() && shared_path_end(function.binary, binary) == 0) {
      continue;
    }
    const std::optional<std::size_t> kind =
        selector.name.empty() ? std::optional<std::size_t>(0) : wanted.match(function.name, {});
    if (!kind || *kind > best) {
      continue;
    }
    if (*kind < best) {
      found.clear();
      best = *kind;
    }
    found.push_back(stacks::FunctionId{static_cast<std::uint32_t>(index)});
  }
  if (!binary.empty()) {
    keep_nearest_binary(functions, binary, found);
  }
  return found;
}

std::size_t shared_path_end(std::string_view one, std::string_view other) {
  const std::vector<std::string_view> left = path_components(one);
  const std::vector<std::string_view> right = path_components(other);
  const std::size_t shorter = std::min(left.size(), right.size());
  return std::equal(left.end() - static_cast<std::ptrdiff_t>(shorter), left.end(),
                    right.end() - static_cast<std::ptrdiff_t>(shorter))
             ? shorter
             : 0;
}

} // namespace ptlens::measure
