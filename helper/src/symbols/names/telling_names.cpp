// Each spelling is tried against all functions by the rules of WantedName.
#include "symbols/names/telling_names.hpp"

#include "symbols/names/demangle.hpp"
#include "symbols/names/name_shape.hpp"
#include "symbols/names/wanted_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace ptlens::symbols {
namespace {

// Returns the spellings to try, the most readable first.
std::vector<std::string> spellings_of(const NamedFunction& function) {
  std::vector<std::string> spellings = {function.name};
  if (const auto hash = rust_hash(function.linkage_name); !hash.empty()) {
    spellings.push_back(fmt::format("{}::{}", function.name, hash));
  }
  if (function.linkage_name.starts_with("_Z") || function.linkage_name.starts_with("_R") ||
      !version_of(function.linkage_name).empty()) {
    spellings.push_back(function.linkage_name);
  }
  return spellings;
}

bool tells_apart(const std::string& spelling, std::span<const NamedFunction> functions,
                 std::size_t wanted) {
  const WantedName name(spelling);
  const auto match = [&](const NamedFunction& function) {
    return name.match(function.name, function.linkage_name);
  };
  const auto best = match(functions[wanted]);
  for (std::size_t index = 0; best && index < functions.size(); ++index) {
    const auto other = index == wanted ? std::nullopt : match(functions[index]);
    if (other && *other <= *best) {
      return false;
    }
  }
  return best.has_value();
}

} // namespace

std::vector<std::string> telling_names(std::span<const NamedFunction> functions) {
  constexpr std::size_t most_compared = 200; // the time grows with the square
  std::vector<std::string> names;
  names.reserve(functions.size());
  for (std::size_t index = 0; index < functions.size(); ++index) {
    const NamedFunction& function = functions[index];
    std::string chosen = fmt::format("{}@{:#x}", shape_of(function.name).last(), function.address);
    if (functions.size() <= most_compared) {
      for (std::string& spelling : spellings_of(function)) {
        if (tells_apart(spelling, functions, index)) {
          chosen = std::move(spelling);
          break;
        }
      }
    }
    names.push_back(std::move(chosen));
  }
  return names;
}

std::string listed_name(const NamedFunction& function, const std::string& telling) {
  return telling.starts_with(function.name) && !telling.contains('@') ? telling : function.name;
}

} // namespace ptlens::symbols
