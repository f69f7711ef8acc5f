// Linear search over all functions: half a million names take some tenths of a second, and only a
// person asks. Edit distance: L. Boytsov, "Indexing methods for approximate dictionary searching"
// (2011), section 2.2.
#include "symbols/names/name_search.hpp"

#include "symbols/names/demangle.hpp"
#include "symbols/names/name_shape.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
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

WantedName::WantedName(std::string_view name) : name_(name), packed_(without_spaces(name)) {
  if (name.starts_with("_Z") || name.starts_with("_R")) {
    demangled_ = demangle(name);
  }
  if (name.ends_with("}")) {
    called_ = name_ + "::operator()"; // of a lambda
  }
  last_ = shape_of(name).last();
}

std::optional<std::size_t> WantedName::match_shape(std::string_view plain,
                                                   std::span<const std::size_t> components) const {
  for (const std::string& name : {std::cref(name_), std::cref(called_)}) {
    if (name.empty() || !plain.ends_with(name)) {
      continue;
    }
    if (plain.size() == name.size()) {
      return 1;
    }
    if (std::ranges::binary_search(components, plain.size() - name.size())) {
      return 2;
    }
  }
  return std::nullopt;
}

// With parameters or template arguments, which must be right but for their spaces: "f(int,int)" and
// "f<int>" for "ns::f<int>(int, int)".
std::optional<std::size_t> WantedName::match_written(std::string_view demangled,
                                                     const NameShape& shape) const {
  if (shape.last() != last_) {
    return std::nullopt;
  }
  for (std::size_t component = 0; component < shape.written.size(); ++component) {
    const std::size_t begin = shape.written[component];
    if (begin > shape.parameters || begin > demangled.size()) {
      break;
    }
    if (without_spaces(demangled.substr(begin)) == packed_ ||
        without_spaces(demangled.substr(begin, shape.parameters - begin)) == packed_) {
      return component == 0 ? 0 : 2;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> WantedName::match(std::string_view demangled,
                                             std::string_view linkage_name) const {
  if (name_.empty()) {
    return std::nullopt;
  }
  if (demangled == name_) {
    return 0;
  }
  const NameShape shape = shape_of(demangled);
  if (const auto kind = match_shape(shape.plain, shape.components)) {
    return kind;
  }
  if (demangled.starts_with('<') || demangled.contains(".(*")) {
    for (const NameShape& other : other_shapes(demangled)) {
      if (match_shape(other.plain, other.components)) {
        return 2;
      }
    }
  }
  if (packed_.find_first_of("(<[") != std::string::npos) {
    if (const auto kind = match_written(demangled, shape)) {
      return kind;
    }
  }
  if (linkage_name == name_ || (!demangled_.empty() && demangled == demangled_)) {
    return 3;
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
    const NameShape shape = shape_of(function.name);
    const std::string& bare = shape.plain;
    const std::string_view last = shape.last();
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
