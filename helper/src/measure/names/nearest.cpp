// Levenshtein's distance is computed with one row of its table, and abandoned when it exceeds that
// of the worst candidate.
#include "measure/names/names.hpp"
#include "symbols/names/name_shape.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace ptlens::measure {

namespace {

// Returns the distance where it is at most `limit`, else a greater number.
std::size_t edit_distance(std::string_view one, std::string_view other, std::size_t limit,
                          std::vector<std::size_t>& row) {
  const std::size_t longer = std::max(one.size(), other.size());
  if (longer - std::min(one.size(), other.size()) > limit) {
    return limit + 1;
  }
  row.resize(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    std::size_t least = row[0];
    for (std::size_t j = 0; j < other.size(); ++j) {
      const std::size_t replaced = diagonal + (one[i] == other[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
      least = std::min(least, row[j + 1]);
    }
    if (least > limit) {
      return limit + 1;
    }
  }
  return row.back();
}

} // namespace

std::vector<std::string> nearest_names(const Measurement& measurement, std::string_view name,
                                       std::size_t count) {
  constexpr std::size_t longest = 256; // bytes of a name that are compared
  name = name.substr(0, longest);
  const bool whole = name.find_first_of("(<") != std::string_view::npos;
  std::set<std::pair<std::size_t, std::string>> nearest;
  std::vector<std::size_t> row;
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
      return edit_distance(name, candidate.substr(0, longest), limit, row);
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
