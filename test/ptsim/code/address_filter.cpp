// The grammar is that of addr_filters__parse_bare_filter in tools/perf/util/auxtrace.c.
#include "code/address_filter.hpp"

#include "code/symbol_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

namespace ptlens::ptsim {
namespace {

Error bad_filter(const std::string& text, const std::string& why) {
  return Error{.kind = Error::Kind::bad_input,
               .message = fmt::format("--filter '{}': {}", text, why),
               .remedy = "give --filter 'filter FUNCTION @ BINARY'"};
}

struct Words { // of the filter's text
  std::string_view rest;

  void skip(std::string_view separators) {
    rest.remove_prefix(std::min(rest.find_first_not_of(separators), rest.size()));
  }
  std::string_view take(std::string_view end) {
    const std::string_view word = rest.substr(0, rest.find_first_of(end));
    rest.remove_prefix(word.size());
    return word;
  }
  bool take_char(char wanted) {
    skip(" ");
    const bool there = rest.starts_with(wanted);
    rest.remove_prefix(there ? 1 : 0);
    return there;
  }
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const bool hex = text.starts_with("0x");
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);
  return parsed.ec == std::errc{} && parsed.ptr == end && !text.empty() ? std::optional(value)
                                                                        : std::nullopt;
}

Result<AddressFilter> resolve(const std::string& text, std::string_view start,
                              std::string_view size, const std::string& path) {
  AddressFilter filter{.path = path};
  const auto bytes = size.empty() ? std::optional<std::uint64_t>(0) : number(size);
  if (!bytes) {
    return std::unexpected(bad_filter(text, fmt::format("'{}' is not a size", size)));
  }
  filter.size = *bytes;
  if (const auto address = number(start)) {
    filter.offset = *address;
    return filter;
  }
  const SymbolTable symbols = SymbolTable::of_file(path);
  const Function* function = symbols.named(start);
  const auto offset =
      function == nullptr ? std::nullopt : symbols.offset_of_address(function->address);
  if (!offset) {
    return std::unexpected(Error{.kind = Error::Kind::not_found,
                                 .message = fmt::format("there is no function '{}'", start),
                                 .file = path,
                                 .remedy = "give a name that nm prints"});
  }
  filter.offset = *offset;
  filter.size = size.empty() ? function->size : *bytes;
  return filter;
}

} // namespace

Result<std::vector<AddressFilter>> parse_filters(const std::string& text) {
  std::vector<AddressFilter> filters;
  Words words{text};
  for (words.skip(" ,"); !words.rest.empty(); words.skip(" ,")) {
    const std::string_view action = words.take(" ");
    if (action != "filter") {
      return std::unexpected(
          Error{.kind = Error::Kind::unsupported,
                .message = fmt::format("--filter '{}': '{}' is not simulated", text, action)});
    }
    words.skip(" ");
    const std::string_view start = words.take(" /@,");
    std::string_view size;
    if (words.take_char('/')) {
      words.skip(" ");
      size = words.take(" @,");
    }
    if (start.empty() || !words.take_char('@')) {
      return std::unexpected(bad_filter(text, "there is no '@ BINARY'"));
    }
    words.skip(" ");
    std::error_code failed;
    const std::string path = std::filesystem::canonical(words.take(" ,"), failed).string();
    if (failed) {
      return std::unexpected(bad_filter(text, "there is no such binary"));
    }
    auto filter = resolve(text, start, size, path);
    if (!filter) {
      return std::unexpected(filter.error());
    }
    if (filter->size == 0) {
      return std::unexpected(bad_filter(text, "an address needs a size"));
    }
    filters.push_back(std::move(*filter));
  }
  return filters;
}

std::string resolved_text(const std::vector<AddressFilter>& filters) {
  std::string text;
  for (const AddressFilter& filter : filters) {
    text += fmt::format("{}filter {:#x}/{:#x}@{}", text.empty() ? "" : " ", filter.offset,
                        filter.size, filter.path);
  }
  return text;
}

std::vector<AddressRange> address_ranges(const std::vector<AddressFilter>& filters,
                                         const std::vector<Mapping>& mappings) {
  std::vector<AddressRange> ranges;
  for (const AddressFilter& filter : filters) {
    for (const Mapping& mapping : mappings) {
      const std::uint64_t end = mapping.file_offset + (mapping.end - mapping.start);
      if (mapping.path != filter.path || filter.offset >= end ||
          filter.offset + filter.size <= mapping.file_offset) {
        continue;
      }
      const std::uint64_t first = std::max(filter.offset, mapping.file_offset);
      const std::uint64_t last = std::min(filter.offset + filter.size, end);
      ranges.push_back({mapping.start + (first - mapping.file_offset),
                        mapping.start + (last - mapping.file_offset)});
    }
  }
  return ranges;
}

} // namespace ptlens::ptsim
