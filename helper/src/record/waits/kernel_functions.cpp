#include "record/waits/kernel_functions.hpp"

#include "base/checksum.hpp"
#include "record/machine/boot_objects.hpp"
#include "symbols/elf/kallsyms.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <ranges>
#include <utility>

namespace ptlens::record {
namespace {

using nlohmann::json;

constexpr std::uint64_t format_version = 2;

// The kernel prints the name of a module behind that of the function; these are no modules
// (kernel/kallsyms.c).
bool stays(std::string_view line) {
  return !line.ends_with("[bpf]") && line.find("[__builtin__") == std::string_view::npos;
}

} // namespace

// The ranges may be anywhere in a file, and so not aligned.
KernelFunctions::Range KernelFunctions::range(std::size_t index) const {
  Range range;
  std::memcpy(&range, ranges_.data() + index * sizeof range, sizeof range);
  return range;
}

KernelFunctions KernelFunctions::read(std::string_view kallsyms) {
  std::vector<Range> ranges;
  std::string names;
  while (!kallsyms.empty()) {
    const std::string_view text = kallsyms.substr(0, kallsyms.find('\n'));
    kallsyms.remove_prefix(std::min(kallsyms.size(), text.size() + 1));
    const auto line = symbols::read_kallsyms_line(text);
    if (!line || line->address == 0 || !std::string_view("tTwW").contains(line->type)) {
      continue;
    }
    constexpr std::size_t longest = std::numeric_limits<std::uint16_t>::max();
    const std::string_view name = line->name.substr(0, longest);
    ranges.push_back({.first = line->address,
                      .end = UINT64_MAX,
                      .name_begin = static_cast<std::uint32_t>(names.size()),
                      .name_size = static_cast<std::uint16_t>(name.size()),
                      .stays = static_cast<std::uint16_t>(stays(text))});
    names += name;
  }
  // Of the names of one address, the last one counts.
  std::ranges::stable_sort(ranges, {}, &Range::first);
  std::vector<Range> one_each;
  for (const Range& range : ranges) {
    if (!one_each.empty() && one_each.back().first == range.first) {
      one_each.back() = range;
    } else {
      one_each.push_back(range);
    }
  }
  for (std::size_t index = 0; index + 1 < one_each.size(); ++index) {
    one_each[index].end = one_each[index + 1].first;
    one_each[index].stays &= one_each[index + 1].stays;
  }
  if (!one_each.empty()) {
    one_each.back().stays = 0; // what follows is not known
  }
  const std::size_t bytes = one_each.size() * sizeof(Range);
  KernelFunctions read;
  read.owned_.resize(bytes + names.size());
  if (bytes != 0) {
    std::memcpy(read.owned_.data(), one_each.data(), bytes);
  }
  std::ranges::copy(names, read.owned_.begin() + static_cast<std::ptrdiff_t>(bytes));
  const std::string_view all(read.owned_.data(), read.owned_.size());
  read.ranges_ = all.substr(0, bytes);
  read.names_ = all.substr(bytes);
  return read;
}

std::optional<KernelFunctions> KernelFunctions::parse(std::string_view text,
                                                      const BootedKernel& kernel,
                                                      std::string_view modules) {
  const std::string_view header = text.substr(0, text.find('\n'));
  const json object = object_of_boot(header, kernel, format_version);
  if (object.is_null() || header.size() == text.size() ||
      object.value("modules", json()) != json(checksum(modules))) {
    return std::nullopt;
  }
  text.remove_prefix(header.size() + 1);
  std::uint64_t count = 0;
  if (text.size() < sizeof count || object.value("checksum", json()) != json(checksum(text))) {
    return std::nullopt;
  }
  std::memcpy(&count, text.data(), sizeof count);
  text.remove_prefix(sizeof count);
  if (count > text.size() / sizeof(Range)) {
    return std::nullopt;
  }
  KernelFunctions read;
  read.ranges_ = text.substr(0, count * sizeof(Range));
  read.names_ = text.substr(count * sizeof(Range));
  for (std::size_t index = 0; index != count; ++index) {
    const Range range = read.range(index);
    if (range.name_begin > read.names_.size() ||
        range.name_size > read.names_.size() - range.name_begin) {
      return std::nullopt;
    }
  }
  return read;
}

std::string KernelFunctions::text(const BootedKernel& kernel, std::string_view modules) const {
  std::vector<Range> kept;
  for (std::size_t index = 0; index != range_count(); ++index) {
    if (const Range each = range(index); each.stays != 0) {
      kept.push_back(each);
    }
  }
  const std::uint64_t count = kept.size();
  std::string contents(sizeof count + count * sizeof(Range), '\0');
  std::memcpy(contents.data(), &count, sizeof count);
  if (count != 0) {
    std::memcpy(&contents[sizeof count], kept.data(), count * sizeof(Range));
  }
  contents += names_;
  json object = new_object_of_boot(kernel, format_version);
  object["modules"] = checksum(modules);
  object["checksum"] = checksum(contents);
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n" + contents;
}

std::optional<KernelFunctions::Function> KernelFunctions::at(std::uint64_t address) const {
  const auto indices =
      std::views::iota(std::uint32_t{0}, static_cast<std::uint32_t>(range_count()));
  const auto next = std::ranges::upper_bound(
      indices, address, {}, [this](std::uint32_t index) { return range(index).first; });
  if (next == indices.begin()) {
    return std::nullopt;
  }
  const Range found = range(*std::ranges::prev(next));
  if (address >= found.end) {
    return std::nullopt;
  }
  return Function{.first = found.first, .name = names_.substr(found.name_begin, found.name_size)};
}

} // namespace ptlens::record
