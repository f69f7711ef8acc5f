// The errors list functions that the user may have meant.
#include "measure/names/find_function.hpp"

#include "symbols/names/name_shape.hpp"

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
  const auto candidates = found | std::views::take(listed_candidates) |
                          std::views::transform([&](stacks::FunctionId index) {
                            const stacks::FunctionInfo& function = measurement.functions[index];
                            return fmt::format("{} ({})", function.name, place_of(function));
                          });
  std::string message = fmt::format("{} functions match \"{}\": {}", found.size(),
                                    name.substr(0, shown_bytes), fmt::join(candidates, ", "));
  if (found.size() > listed_candidates) {
    message += ", ...";
  }
  const stacks::FunctionInfo& first = measurement.functions[found.front()];
  const bool addresses_differ = std::ranges::any_of(found, [&](stacks::FunctionId function) {
    return measurement.functions[function].address != first.address;
  });
  std::vector<Error::Candidate> listed;
  for (const stacks::FunctionId index : found) {
    const stacks::FunctionInfo& function = measurement.functions[index];
    listed.push_back(
        {.name = function.name, .binary = function.binary, .address = function.address});
  }
  return {.kind = Error::Kind::ambiguous,
          .message = message,
          .file = measurement.recording.path,
          .offset = std::nullopt,
          .remedy =
              addresses_differ
                  ? fmt::format("give the address of one of them, as in {}@{:#x}, or use --all",
                                symbols::shape_of(first.name).last(), first.address)
                  : fmt::format("give the binary too, as in {}", first.binary),
          .candidates = std::move(listed)};
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
