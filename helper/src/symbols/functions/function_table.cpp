// Functions are numbered by address. Their ranges are cut into extents without overlaps by a sweep
// over range starts and ends in which the range that began last wins. The extent of an address is
// found by binary search among the extents that begin in one bucket of addresses.
#include "symbols/functions/function_table.hpp"

#include "symbols/functions/function_builder.hpp"

#include <algorithm>
#include <iterator>

namespace ptlens::symbols {

FunctionTable::FunctionTable(const ElfImage& image, const FunctionSources& sources,
                             const DebugInfo& debug_info) {
  FunctionBuilder builder(image);
  builder.add_stubs(sources.stubs);
  builder.add_symbols(sources.symbols, sources.unwind_ranges);
  builder.add_subprograms(debug_info);
  builder.join_cold_parts();
  builder.add_unwind_ranges(sources.unwind_ranges);
  builder.mark_resolvers();
  builder.mark_thunks();
  builder.relate_copies();
  number(builder.take());
  cut_into_extents();

  for (const FunctionBuilder::NamedEntry& name : builder.names()) {
    const std::optional<std::uint32_t> function = entry(name.entry);
    if (function && (name.exported || functions_[*function].linkage_name != name.linkage_name)) {
      aliases_.push_back(
          {.linkage_name = name.linkage_name, .function = *function, .exported = name.exported});
    }
  }
  std::ranges::stable_sort(aliases_, {}, &Alias::function);
  for (const PltStub& stub : sources.stubs) {
    const std::optional<std::uint32_t> function = entry(stub.address);
    if (function && !stub.target.empty()) {
      stub_targets_.emplace(*function, stub.target);
    }
  }
}

void FunctionTable::number(std::map<std::uint64_t, Function> by_entry) {
  functions_.reserve(by_entry.size());
  for (auto& [entry, function] : by_entry) {
    if (function.original == 0) {
      function.original = entry;
    }
    functions_.push_back(std::move(function));
  }
}

void FunctionTable::cut_into_extents() {
  std::vector<Extent> ranges;
  for (std::uint32_t index = 0; index < functions_.size(); ++index) {
    for (const AddressRange& range : functions_[index].ranges) {
      if (range.low < range.high) {
        ranges.push_back({.low = range.low, .high = range.high, .function = index});
      }
    }
  }
  std::ranges::sort(ranges, [](const Extent& one, const Extent& other) {
    return one.low != other.low ? one.low < other.low : one.high > other.high;
  });
  std::vector<Extent> open; // innermost last
  std::uint64_t position = 0;
  const auto close_until = [&](std::uint64_t until) {
    while (!open.empty() && position < until) {
      const Extent& inner = open.back();
      const std::uint64_t end = std::min(inner.high, until);
      if (position < end) {
        extents_.push_back({.low = position, .high = end, .function = inner.function});
        position = end;
      }
      if (inner.high <= position) {
        open.pop_back();
      }
    }
  };
  for (const Extent& range : ranges) {
    close_until(range.low);
    position = range.low;
    open.push_back(range);
  }
  close_until(UINT64_MAX);
  divide();
}

// Divides the code into at most twice as many buckets as there are extents.
void FunctionTable::divide() {
  if (extents_.empty()) {
    return;
  }
  const std::uint64_t first = extents_.front().low;
  const std::uint64_t bytes = extents_.back().high - first;
  while ((bytes >> bucket_bits_) >= 2 * extents_.size()) {
    ++bucket_bits_;
  }
  const std::uint64_t buckets = (bytes >> bucket_bits_) + 1;
  begun_.reserve(buckets + 1);
  std::uint32_t begun = 0;
  for (std::uint64_t bucket = 0; bucket <= buckets; ++bucket) {
    while (begun < extents_.size() &&
           (extents_[begun].low - first + (std::uint64_t{1} << bucket_bits_) - 1) >> bucket_bits_ <=
               bucket) {
      ++begun;
    }
    begun_.push_back(begun);
  }
}

std::optional<std::uint32_t> FunctionTable::at(std::uint64_t address) const {
  if (extents_.empty() || address < extents_.front().low || address >= extents_.back().high) {
    return std::nullopt;
  }
  const std::uint64_t bucket = (address - extents_.front().low) >> bucket_bits_;
  const auto least = extents_.begin() + begun_[bucket];
  const auto most = extents_.begin() + begun_[bucket + 1];
  const Extent& extent =
      *std::prev(std::ranges::upper_bound(least, most, address, {}, &Extent::low));
  return address < extent.high ? std::optional(extent.function) : std::nullopt;
}

std::optional<std::uint32_t> FunctionTable::entry(std::uint64_t address) const {
  const auto found = std::ranges::lower_bound(functions_, address, {}, &Function::address);
  if (found == functions_.end() || found->address != address) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(found - functions_.begin());
}

std::span<const Alias> FunctionTable::aliases_of(std::uint32_t index) const {
  return std::ranges::equal_range(aliases_, index, {}, &Alias::function);
}

std::optional<std::string> FunctionTable::stub_target(std::uint32_t index) const {
  const auto found = stub_targets_.find(index);
  return found == stub_targets_.end() ? std::nullopt : std::optional(found->second);
}

} // namespace ptlens::symbols
