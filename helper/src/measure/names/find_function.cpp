// The errors list functions that the user may have meant.
#include "measure/names/find_function.hpp"

#include "symbols/names/telling_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

namespace ptlens::measure {

namespace {

constexpr std::size_t suggested_names = 5;
constexpr std::size_t shown_bytes = 200; // of a name that the user gave

// Returns the binary and address of the function, and its source line where that is known.
std::string place_of(const stacks::FunctionInfo& function) {
  std::string place = fmt::format("{}:{:#x}", function.binary, function.address);
  if (!function.file.empty()) {
    place +=
        fmt::format(", {}:{}", function.file.substr(function.file.rfind('/') + 1), function.line);
  }
  return place;
}

Error ambiguous(const Measurement& measurement, const std::string& name,
                const std::vector<stacks::FunctionId>& found) {
  const auto function_of = [&](stacks::FunctionId index) -> const stacks::FunctionInfo& {
    return measurement.functions[index];
  };
  std::vector<symbols::NamedFunction> named;
  for (const stacks::FunctionId index : found) {
    const stacks::FunctionInfo& function = function_of(index);
    named.push_back({.name = function.name,
                     .linkage_name = function.linkage_names.empty()
                                         ? std::string()
                                         : function.linkage_names.front(),
                     .address = function.address});
  }
  const std::vector<std::string> telling = symbols::telling_names(named);
  std::vector<std::string> listed;
  std::vector<Error::Candidate> candidates;
  for (std::size_t at = 0; at < found.size(); ++at) {
    const stacks::FunctionInfo& function = function_of(found[at]);
    if (at < listed_candidates) {
      listed.push_back(fmt::format("{} ({})", telling[at], place_of(function)));
    }
    candidates.push_back({.name = symbols::listed_name(named[at], telling[at]),
                          .binary = function.binary,
                          .address = function.address});
  }
  std::vector<std::string> sorted = telling;
  std::ranges::sort(sorted);
  const bool distinct = std::ranges::adjacent_find(sorted) == sorted.end();
  return {.kind = Error::Kind::ambiguous,
          .message = fmt::format("{} functions match \"{}\": {}{}", found.size(),
                                 name.substr(0, shown_bytes), fmt::join(listed, ", "),
                                 found.size() > listed_candidates ? ", ..." : ""),
          .file = measurement.recording.path,
          .offset = std::nullopt,
          .remedy = distinct ? fmt::format("name one of them, as in --function '{}', or use --all",
                                           telling[0])
                             : fmt::format("give the binary too, as in --binary {}, or use --all",
                                           function_of(found.front()).binary),
          .candidates = std::move(candidates)};
}

} // namespace

Error no_such_function(const Measurement& measurement, const std::string& name,
                       const FunctionSelector& selector, const std::string& binary) {
  Error error{.kind = Error::Kind::not_found,
              .message = fmt::format("no function \"{}\"", name.substr(0, shown_bytes)),
              .file = measurement.recording.path,
              .offset = std::nullopt,
              .remedy = {}};
  error.message += binary.empty()
                       ? std::string(" in the recording")
                       : fmt::format(" of \"{}\" in the recording", binary.substr(0, shown_bytes));
  std::vector<stacks::FunctionId> elsewhere;
  if (!binary.empty()) {
    elsewhere = functions_named(measurement, selector, {});
  }
  if (elsewhere.empty() && selector.address && !selector.name.empty()) {
    elsewhere = functions_named(measurement, {.name = selector.name, .address = {}}, {});
  }
  if (!elsewhere.empty()) {
    const auto places = elsewhere | std::views::take(listed_candidates) |
                        std::views::transform([&](stacks::FunctionId function) {
                          return place_of(measurement.functions[function]);
                        });
    error.remedy = fmt::format("it is at {}", fmt::join(places, ", "));
    return error;
  }
  const auto reason = std::ranges::find(measurement.recording.notes, std::vector{selector.name},
                                        &Note::arguments); // a note about the function alone
  if (reason != measurement.recording.notes.end()) {
    error.remedy = reason->text;
    return error;
  }
  const std::vector<std::string> nearest =
      nearest_names(measurement, selector.name, suggested_names);
  error.remedy =
      nearest.empty()
          ? std::string(
                "the recording contains no function: record for longer, or record another process")
          : fmt::format("nearest names: {}", fmt::join(nearest, ", "));
  return error;
}

Result<std::vector<stacks::FunctionId>>
find_functions(const Measurement& measurement, const std::string& name, const std::string& binary) {
  const FunctionSelector selector = parse_selector(name);
  std::vector<stacks::FunctionId> found = functions_named(measurement, selector, binary);
  if (found.empty()) {
    return std::unexpected(no_such_function(measurement, name, selector, binary));
  }
  return found;
}

Result<stacks::FunctionId> find_function(const Measurement& measurement, const std::string& name,
                                         const std::string& binary) {
  const auto found = find_functions(measurement, name, binary);
  if (!found) {
    return std::unexpected(found.error());
  }
  if (found->size() > 1) {
    return std::unexpected(ambiguous(measurement, name, *found));
  }
  return found->front();
}

} // namespace ptlens::measure
