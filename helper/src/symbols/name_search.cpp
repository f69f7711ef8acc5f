// Linear search over all functions: half a million names take some tenths of a second, and only a
// person asks. Edit distance: L. Boytsov, "Indexing methods for approximate dictionary searching"
// (2011), section 2.2.
#include "symbols/name_search.hpp"

#include "symbols/demangle.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_set>

namespace ptlens::symbols {

namespace {

std::string without_spaces(std::string_view text) {
  std::string packed(text);
  std::erase(packed, ' ');
  return packed;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char character) {
    return static_cast<char>(std::tolower(character));
  });
  return lower;
}

} // namespace

// A bare operator, template or lambda loses no parameters that a user would have typed.
WantedName::WantedName(std::string_view name)
    : name_(name),
      bare_(name.ends_with(')') && !name.ends_with("operator()") ? without_parameters(name)
                                                                 : std::string(name)) {}

std::optional<std::size_t> WantedName::match(std::string_view demangled,
                                             std::string_view linkage_name) const {
  if (name_.empty()) {
    return std::nullopt;
  }
  if (demangled == name_) {
    return 0;
  }
  if (name_ == bare_) {
    const std::string bare = without_parameters(demangled);
    if (bare == name_) {
      return 1;
    }
    if (last_component(bare) == name_) {
      return 2;
    }
  }
  if (linkage_name == name_) {
    return 3;
  }
  // Parameters that were typed must be right, but for their spaces: "f(int,int)".
  if (name_ != bare_ && without_spaces(demangled) == without_spaces(name_)) {
    return 0;
  }
  return std::nullopt;
}

std::vector<std::uint32_t> find_by_name(const FunctionTable& table, std::string_view name) {
  const WantedName wanted(name);
  std::array<std::vector<std::uint32_t>, WantedName::match_kinds> found;
  const auto look_at = [&](std::uint32_t index, std::string_view demangled,
                           std::string_view linkage_name) {
    if (table.functions()[index].kind == Function::Kind::plt_stub) {
      return;
    }
    if (const std::optional<std::size_t> kind = wanted.match(demangled, linkage_name)) {
      found[*kind].push_back(index);
    }
  };
  for (std::uint32_t index = 0; index < table.functions().size(); ++index) {
    const Function& function = table.functions()[index];
    look_at(index, function.name, function.linkage_name);
  }
  for (const Alias& alias : table.aliases()) {
    look_at(alias.function, demangle(alias.linkage_name), alias.linkage_name);
  }
  for (std::vector<std::uint32_t>& indices : found) {
    if (indices.empty()) {
      continue;
    }
    std::ranges::sort(indices);
    const auto repeats = std::ranges::unique(indices);
    indices.erase(repeats.begin(), repeats.end());
    // A clone answers to its function's name only where nothing else does.
    const auto clone = [&table](std::uint32_t index) {
      return is_clone(table.functions()[index].name);
    };
    if (!std::ranges::all_of(indices, clone)) {
      std::erase_if(indices, clone);
    }
    return indices;
  }
  return {};
}

std::size_t edit_distance(std::string_view one, std::string_view other, std::size_t limit) {
  const std::size_t difference =
      one.size() > other.size() ? one.size() - other.size() : other.size() - one.size();
  if (difference >= limit) {
    return limit;
  }
  std::vector<std::size_t> before_last(other.size() + 1);
  std::vector<std::size_t> last(other.size() + 1);
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= one.size(); ++i) {
    row[0] = i;
    std::size_t smallest = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const std::size_t substituted = last[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substituted});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
      smallest = std::min(smallest, row[j]);
    }
    if (smallest >= limit && i > 1) {
      return limit;
    }
    before_last.swap(last);
    last.swap(row);
  }
  return std::min(last[other.size()], limit);
}

std::vector<std::string> names_near(const FunctionTable& table, std::string_view name,
                                    std::size_t count) {
  constexpr std::size_t longest = 256;
  const std::string wanted(name.substr(0, longest));
  const std::string wanted_lower = lower_case(wanted);
  using Rank = std::tuple<std::size_t, std::size_t, std::string>; // exact case, any case, name
  std::vector<Rank> nearest;
  std::unordered_set<std::string_view> seen;
  for (const Function& function : table.functions()) {
    if (count == 0 || function.kind == Function::Kind::plt_stub ||
        !seen.insert(function.name).second) {
      continue;
    }
    const std::string bare = without_parameters(function.name);
    const std::string_view last = last_component(bare);
    const std::size_t limit = nearest.size() < count ? SIZE_MAX : std::get<0>(nearest.back()) + 1;
    const std::size_t distance =
        std::min(edit_distance(bare, wanted, limit), edit_distance(last, wanted, limit));
    if (distance >= limit || bare.size() > 16 * longest) {
      continue;
    }
    const std::size_t lower_distance =
        std::min(edit_distance(lower_case(bare), wanted_lower, SIZE_MAX),
                 edit_distance(lower_case(last), wanted_lower, SIZE_MAX));
    Rank rank(distance, lower_distance, function.name);
    const auto place = std::ranges::upper_bound(nearest, rank);
    nearest.insert(place, std::move(rank));
    if (nearest.size() > count) {
      nearest.pop_back();
    }
  }
  std::vector<std::string> names;
  names.reserve(nearest.size());
  for (Rank& rank : nearest) {
    names.push_back(std::move(std::get<2>(rank)));
  }
  return names;
}

} // namespace ptlens::symbols
