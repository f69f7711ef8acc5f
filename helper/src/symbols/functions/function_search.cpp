// A linear search over all functions. Half a million names take some tenths of a second, and only
// people search.
#include "symbols/functions/function_search.hpp"

#include "symbols/names/demangle.hpp"
#include "symbols/names/edit_distance.hpp"
#include "symbols/names/name_shape.hpp"
#include "symbols/names/wanted_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <tuple>
#include <unordered_set>

namespace ptlens::symbols {

namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char character) {
    return static_cast<char>(std::tolower(character));
  });
  return lower;
}

} // namespace

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
    if (!wanted.has_version()) {
      look_at(index, function.name, function.linkage_name);
      continue;
    }
    for (const std::string& name : linkage_names_of(table, index)) {
      if (wanted.may_match(name)) {
        look_at(index, demangle(name), name);
      }
    }
  }
  for (const Alias& alias : table.aliases()) {
    const Function& function = table.functions()[alias.function];
    if (wanted.has_version() || alias.linkage_name == function.linkage_name ||
        !wanted.may_match(alias.linkage_name)) {
      continue;
    }
    const bool same = without_version(alias.linkage_name) == without_version(function.linkage_name);
    look_at(alias.function, same ? function.name : demangle(alias.linkage_name),
            alias.linkage_name);
  }
  for (std::vector<std::uint32_t>& indices : found) {
    if (indices.empty()) {
      continue;
    }
    std::ranges::sort(indices);
    const auto repeats = std::ranges::unique(indices);
    indices.erase(repeats.begin(), repeats.end());
    // A clone matches its function's name only where nothing else does.
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
    const auto position = std::ranges::upper_bound(nearest, rank);
    nearest.insert(position, std::move(rank));
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

std::vector<std::string> linkage_names_of(const FunctionTable& table, std::uint32_t index) {
  std::vector<std::string> names = {table.functions()[index].linkage_name};
  for (const Alias& alias : table.aliases_of(index)) {
    // .symtab has names without versions, .dynsym the same ones with them.
    const auto same = std::ranges::find_if(names, [&](const std::string& name) {
      return name == alias.linkage_name || name == without_version(alias.linkage_name) ||
             without_version(name) == alias.linkage_name;
    });
    if (same == names.end()) {
      names.push_back(alias.linkage_name);
    } else if (version_of(*same).empty()) {
      *same = alias.linkage_name;
    }
  }
  return names;
}

std::optional<std::uint32_t> find_exported(const FunctionTable& table,
                                           std::string_view linkage_name) {
  std::optional<std::uint32_t> old;
  for (const Alias& alias : table.aliases()) {
    if (alias.exported && without_version(alias.linkage_name) == linkage_name) {
      if (!is_old_version(alias.linkage_name)) {
        return alias.function;
      }
      old = old.value_or(alias.function);
    }
  }
  return old;
}

std::optional<std::uint32_t> find_defined(const FunctionTable& table,
                                          std::string_view linkage_name) {
  for (std::uint32_t index = 0; index < table.functions().size(); ++index) {
    const Function& function = table.functions()[index];
    if (function.kind != Function::Kind::plt_stub &&
        without_version(function.linkage_name) == linkage_name) {
      return index;
    }
  }
  const auto alias = std::ranges::find_if(table.aliases(), [&](const Alias& each) {
    return without_version(each.linkage_name) == linkage_name;
  });
  return alias == table.aliases().end() ? std::nullopt : std::optional(alias->function);
}

} // namespace ptlens::symbols
