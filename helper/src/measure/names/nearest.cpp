// Names nearest to one that was not found. The worst name in the result so far limits the distance.
#include "measure/names/names.hpp"
#include "symbols/names/edit_distance.hpp"
#include "symbols/names/name_shape.hpp"

#include <algorithm>
#include <set>

namespace ptlens::measure {

std::vector<std::string> nearest_names(const Measurement& measurement, std::string_view name,
                                       std::size_t count) {
  constexpr std::size_t longest = 256; // bytes of a name that are compared
  name = name.substr(0, longest);
  const bool whole = name.find_first_of("(<") != std::string_view::npos;
  std::set<std::pair<std::size_t, std::string>> nearest;
  if (count == 0) {
    return {};
  }
  for (const stacks::FunctionInfo& function : measurement.functions) {
    if (function.name.empty() || function.name.ends_with("@plt")) {
      continue;
    }
    const symbols::NameShape shape = symbols::shape_of(function.name);
    const std::size_t limit = nearest.size() < count ? longest : nearest.rbegin()->first;
    const auto distance_to = [&](std::string_view candidate) {
      return symbols::edit_distance(name, candidate.substr(0, longest), limit + 1);
    };
    std::size_t distance = std::min(distance_to(shape.last()), distance_to(shape.plain));
    if (whole) {
      distance = std::min(distance, distance_to(function.name));
    }
    if (distance > limit) {
      continue;
    }
    const auto same = std::ranges::find_if(
        nearest, [&](const auto& candidate) { return candidate.second == shape.plain; });
    if (same != nearest.end() && same->first <= distance) {
      continue;
    }
    if (same != nearest.end()) {
      nearest.erase(same);
    }
    nearest.emplace(distance, shape.plain);
    if (nearest.size() > count) {
      nearest.erase(std::prev(nearest.end()));
    }
  }
  std::vector<std::string> names;
  names.reserve(nearest.size());
  for (const auto& [distance, text] : nearest) {
    names.push_back(text);
  }
  return names;
}

} // namespace ptlens::measure
