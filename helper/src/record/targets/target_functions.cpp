#include "record/targets/target_functions.hpp"

#include "record/processes/process_maps.hpp"
#include "record/targets/same_function.hpp"
#include "symbols/names/name_shape.hpp"
#include "symbols/names/telling_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace ptlens::record {
namespace {

using symbols::Binary;

constexpr std::size_t listed_names = 5;

// Returns the requested address, or the one in "0x1234" or "name@0x1234".
std::optional<std::uint64_t> address_in(const WantedFunction& wanted) {
  if (wanted.address) {
    return wanted.address;
  }
  std::string_view text = wanted.name;
  text = text.substr(text.rfind('@') + 1); // the whole text when it contains no @
  if (!text.starts_with("0x")) {
    return std::nullopt;
  }
  std::uint64_t address = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + 2, end, address, 16);
  return error == std::errc{} && rest == end ? std::optional(address) : std::nullopt;
}

// Returns the functions without aliases of the same entry.
std::vector<std::uint32_t> distinct(const Binary& binary, std::vector<std::uint32_t> found) {
  const auto address = [&binary](std::uint32_t index) { return binary.functions()[index].address; };
  std::ranges::stable_sort(found, {}, address);
  const auto rest = std::ranges::unique(found, {}, address);
  found.erase(rest.begin(), rest.end());
  return found;
}

// Returns where the function is, for a person: its address and its source line.
std::string place_of(const Place& place) {
  std::string text = fmt::format("{:#x}", place->address);
  if (!place->file.empty()) {
    text +=
        fmt::format(", {}:{}", std::filesystem::path(place->file).filename().string(), place->line);
  }
  return text;
}

Error ambiguous(const WantedFunction& wanted, const std::vector<Place>& found) {
  const bool one_file = std::ranges::all_of(
      found, [&](const Place& place) { return place.binary == found.front().binary; });
  std::vector<symbols::NamedFunction> named;
  for (const Place& place : found) {
    named.push_back(
        {.name = place->name, .linkage_name = place->linkage_name, .address = place->address});
  }
  const std::vector<std::string> telling = symbols::telling_names(named);
  std::vector<std::string> listed;
  std::vector<Error::Candidate> candidates;
  for (std::size_t at = 0; at < found.size(); ++at) {
    const Place& place = found[at];
    if (at < listed_names) {
      listed.push_back(fmt::format("{} ({}{})", telling[at],
                                   one_file ? "" : place.binary->path() + " ", place_of(place)));
    }
    candidates.push_back({.name = symbols::listed_name(named[at], telling[at]),
                          .binary = place.binary->path(),
                          .address = place->address});
  }
  const std::string more =
      found.size() > listed_names ? fmt::format(" and {} more", found.size() - listed_names) : "";
  return Error{
      .kind = Error::Kind::ambiguous,
      .message = fmt::format("{} functions are named {}: {}{}", found.size(), wanted.name,
                             fmt::join(listed, ", "), more),
      .file = one_file ? found.front().binary->path() : std::string(),
      .remedy = one_file ? fmt::format("name one of them, as in --function '{}', or measure all of "
                                       "them with --all",
                                       telling.front())
                         : "name one of the files with --binary, or measure all of them with "
                           "--all",
      .candidates = std::move(candidates)};
}

// The error for a function that exists only as inlined code.
Error inlined_everywhere(const WantedFunction& wanted, const Binary& binary,
                         const std::vector<symbols::InlinedInstance>& places) {
  std::vector<std::string> holders;
  for (const symbols::InlinedInstance& place : places) {
    if (place.function) {
      const std::string& name = binary.functions()[*place.function].name;
      if (std::ranges::find(holders, name) == holders.end()) {
        holders.push_back(name);
      }
    }
  }
  const std::size_t more = holders.size() > listed_names ? holders.size() - listed_names : 0;
  holders.resize(holders.size() - more);
  return Error{.kind = Error::Kind::not_found,
               .message = fmt::format(
                   "{} was inlined everywhere ({} {}), so it cannot be measured as a function",
                   wanted.name, places.size(), places.size() == 1 ? "location" : "locations"),
               .file = binary.path(),
               .remedy = fmt::format(
                   "measure a function that it was inlined into: {}{}", fmt::join(holders, ", "),
                   more == 0 ? std::string() : fmt::format(" and {} more", more))};
}

// A search for one requested function. The results are in the order of the files.
class Search {
public:
  Search(const WantedFunction& wanted, TargetFiles& files)
      : wanted_(wanted), files_(files), address_(address_in(wanted)) {}

  Result<std::vector<Place>> run() {
    std::vector<TargetFile> candidates = files_.files();
    if (!wanted_.binary.empty()) {
      auto named = files_.named(wanted_.binary);
      if (!named) {
        return std::unexpected(named.error());
      }
      candidates = {*named};
    }
    if (candidates.empty()) {
      return std::unexpected(
          Error{.kind = Error::Kind::bad_input,
                .message = "the request does not name the binary that contains the function",
                .remedy = "add --binary"});
    }
    for (std::size_t index = 0; index < candidates.size(); ++index) {
      // A definition in the executable takes precedence in its libraries as well.
      const bool settled = !found_.empty() && !wanted_.all && in_executable_;
      if (settled || (!found_.empty() && is_system_file(candidates[index].path))) {
        continue;
      }
      look_into(candidates[index], index == 0);
      if (address_) {
        break; // an address refers to the first candidate
      }
    }
    return found_.empty() ? std::unexpected(missing()) : Result<std::vector<Place>>(found_);
  }

private:
  void look_into(const TargetFile& file, bool executable) {
    const auto binary = files_.open(file);
    if (!binary) {
      first_failure_ = first_failure_.value_or(binary.error());
      executable_failed_ |= executable;
      return;
    }
    opened_.push_back(*binary);
    std::vector<std::uint32_t> indices;
    if (address_ && is_of_build(wanted_, **binary)) {
      const auto index = (*binary)->function_entry(*address_);
      indices = index ? std::vector<std::uint32_t>{*index} : std::vector<std::uint32_t>{};
    } else if (!wanted_.origin.build_id.empty() && !wanted_.all) {
      indices = distinct(**binary, same_functions(wanted_, **binary));
    } else {
      indices = distinct(**binary, (*binary)->find(wanted_.name));
    }
    in_executable_ |= executable && !indices.empty();
    for (const std::uint32_t index : indices) {
      found_.push_back(Place{.binary = *binary, .function = index});
    }
  }

  Error missing() const {
    if (executable_failed_ || opened_.empty()) { // the function may be in that file
      return first_failure_.value_or(Error{.message = "no binary could be read"});
    }
    const Binary& first = *opened_.front();
    if (address_ && wanted_.origin.build_id.empty()) {
      return Error{.kind = Error::Kind::not_found,
                   .message = fmt::format("no function starts at {:#x}", *address_),
                   .file = first.path(),
                   .remedy = "give the address of the first instruction, as nm prints it"};
    }
    const std::string last = symbols::last_component(wanted_.name);
    for (const auto& binary : opened_) {
      if (std::ranges::binary_search(binary->inlined_names(), last)) {
        if (const auto places = binary->inlined(wanted_.name); !places.empty()) {
          return inlined_everywhere(wanted_, *binary, places);
        }
      }
    }
    const std::vector<std::string> nearest = first.nearest_names(wanted_.name, listed_names);
    return Error{.kind = Error::Kind::not_found,
                 .message = fmt::format("the file contains no function named {}", wanted_.name),
                 .file = first.path(),
                 .remedy = nearest.empty()
                               ? "build the program with symbols, and do not strip it"
                               : fmt::format("the nearest names are {}", fmt::join(nearest, ", "))};
  }

  const WantedFunction& wanted_;
  TargetFiles& files_;
  std::optional<std::uint64_t> address_;
  std::vector<Place> found_;
  bool in_executable_ = false;
  std::vector<std::shared_ptr<const Binary>> opened_;
  std::optional<Error> first_failure_;
  bool executable_failed_ = false;
};

Result<std::vector<Place>> find_wanted(const WantedFunction& wanted, TargetFiles& files) {
  auto found = Search(wanted, files).run();
  if (found && found->size() > 1 && !wanted.all) {
    return std::unexpected(ambiguous(wanted, *found));
  }
  return found;
}

} // namespace

Result<std::vector<Place>> find_targets(const Request& request, TargetFiles& files) {
  std::vector<Place> targets;
  std::set<std::pair<const Binary*, std::uint64_t>> seen;
  for (const WantedFunction& wanted : request.functions()) {
    const auto found = find_wanted(wanted, files);
    if (!found) {
      return std::unexpected(found.error());
    }
    for (const Place& place : *found) {
      if (seen.emplace(place.binary.get(), place->address).second) { // two names of one function
        targets.push_back(place);
      }
    }
  }
  return targets;
}

Result<FoundTargets> find_targets(const Request& request) {
  auto files = TargetFiles::of(request);
  if (!files) {
    return std::unexpected(files.error());
  }
  auto functions = find_targets(request, *files);
  if (!functions) {
    return std::unexpected(functions.error());
  }
  return FoundTargets{.files = std::move(*files), .functions = std::move(*functions)};
}

Result<Place> find_target(const Request& request, TargetFiles& files) {
  WantedFunction one{.name = request.function,
                     .binary = request.binary,
                     .address = request.address,
                     .origin = request.origin};
  const auto found = find_wanted(one, files);
  return found ? found->front() : Result<Place>(std::unexpected(found.error()));
}

} // namespace ptlens::record
