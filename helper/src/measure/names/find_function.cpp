// From what the user wrote to one function, or to an error that says how to write it better.
#include "measure/names/names.hpp"
#include "measure/selection/selection.hpp"
#include "symbols/names/name_shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

namespace ptlens::measure {

namespace {

constexpr std::size_t suggested_names = 5;
constexpr std::size_t shown_bytes = 200; // of a name that the user gave

std::string place_of(const stacks::FunctionInfo& function) {
  std::string place = fmt::format("{}:{:#x}", function.binary, function.address);
  if (!function.file.empty()) {
    place +=
        fmt::format(", {}:{}", function.file.substr(function.file.rfind('/') + 1), function.line);
  }
  return place;
}

Error missing(const Measurement& measurement, const std::string& name,
              const FunctionSelector& selector, const std::string& binary) {
  Error error{.kind = Error::Kind::not_found,
              .message = fmt::format("no function \"{}\"", name.substr(0, shown_bytes)),
              .file = measurement.recording.path,
              .offset = std::nullopt,
              .remedy = {}};
  error.message += binary.empty()
                       ? std::string(" in the recording")
                       : fmt::format(" of \"{}\" in the recording", binary.substr(0, shown_bytes));
  std::vector<std::uint32_t> elsewhere;
  if (!binary.empty()) {
    elsewhere = functions_named(measurement, selector, {});
  }
  if (elsewhere.empty() && selector.address && !selector.name.empty()) {
    elsewhere = functions_named(measurement, {.name = selector.name, .address = {}}, {});
  }
  if (!elsewhere.empty()) {
    const auto places = elsewhere | std::views::take(listed_candidates) |
                        std::views::transform([&](std::uint32_t function) {
                          return place_of(measurement.functions[function]);
                        });
    error.remedy = fmt::format("it is at {}", fmt::join(places, ", "));
    return error;
  }
  const std::vector<std::string> nearest =
      nearest_names(measurement, selector.name, suggested_names);
  error.remedy =
      nearest.empty()
          ? std::string("the recording holds no function: record longer, or another process")
          : fmt::format("nearest names: {}", fmt::join(nearest, ", "));
  return error;
}

Error ambiguous(const Measurement& measurement, const std::string& name,
                const std::vector<std::uint32_t>& found) {
  const auto candidates =
      found | std::views::take(listed_candidates) | std::views::transform([&](std::uint32_t index) {
        const stacks::FunctionInfo& function = measurement.functions[index];
        return fmt::format("{} ({})", function.name, place_of(function));
      });
  std::string message = fmt::format("{} functions answer to \"{}\": {}", found.size(),
                                    name.substr(0, shown_bytes), fmt::join(candidates, ", "));
  if (found.size() > listed_candidates) {
    message += ", ...";
  }
  const stacks::FunctionInfo& first = measurement.functions[found.front()];
  const bool addresses_differ = std::ranges::any_of(found, [&](std::uint32_t function) {
    return measurement.functions[function].address != first.address;
  });
  std::vector<Error::Candidate> listed;
  for (const std::uint32_t index : found) {
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
                  ? fmt::format("name one by its address, as in {}@{:#x}, or report all with --all",
                                symbols::shape_of(first.name).last(), first.address)
                  : fmt::format("name its binary as well, as in {}", first.binary),
          .candidates = std::move(listed)};
}

} // namespace

Result<std::vector<std::uint32_t>>
find_functions(const Measurement& measurement, const std::string& name, const std::string& binary) {
  const FunctionSelector selector = parse_selector(name);
  std::vector<std::uint32_t> found = functions_named(measurement, selector, binary);
  if (found.empty()) {
    return std::unexpected(missing(measurement, name, selector, binary));
  }
  return found;
}

Result<std::uint32_t> find_function(const Measurement& measurement, const std::string& name,
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

Result<void> check_selection(const Measurement& measurement, const Selection& selection) {
  if (!selection.ancestor.empty()) {
    const FunctionSelector selector = parse_selector(selection.ancestor);
    if (functions_named(measurement, selector, {}).empty()) {
      return std::unexpected(missing(measurement, selection.ancestor, selector, {}));
    }
  }
  if (!selection.tid) {
    return {};
  }
  const auto is_asked_for = [&](const stacks::ThreadInfo& thread) {
    return thread.tid == *selection.tid;
  };
  if (std::ranges::any_of(measurement.threads, is_asked_for)) {
    return {};
  }
  const auto shown = measurement.threads | std::views::take(listed_candidates) |
                     std::views::transform([](const stacks::ThreadInfo& thread) {
                       return fmt::format("{} ({})", thread.tid, thread.comm);
                     });
  return std::unexpected(Error{
      .kind = Error::Kind::not_found,
      .message = fmt::format("no thread {} in the recording", *selection.tid),
      .file = measurement.recording.path,
      .offset = std::nullopt,
      .remedy = measurement.threads.empty()
                    ? std::string("the recording holds no thread: record again")
                    : fmt::format("threads: {}{}", fmt::join(shown, ", "),
                                  measurement.threads.size() > listed_candidates ? ", ..." : "")});
}

} // namespace ptlens::measure
