// Storage and sorting of side-band records.
#include "perfdata/contents/side_band.hpp"

#include <algorithm>

namespace ptlens::perfdata {

namespace {

template <class T>
void order(std::vector<T>& records) {
  if (!std::ranges::is_sorted(records, {}, &T::time_ns)) {
    std::ranges::stable_sort(records, {}, &T::time_ns);
  }
}

} // namespace

std::span<const std::byte> ByteArena::keep(std::span<const std::byte> bytes) {
  if (bytes.empty()) {
    return {};
  }
  // A block never grows beyond its reserved size, so its bytes do not move.
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < bytes.size()) {
    blocks_.emplace_back().reserve(std::max(block_size, bytes.size()));
  }
  std::vector<std::byte>& block = blocks_.back();
  const std::size_t start = block.size();
  block.insert(block.end(), bytes.begin(), bytes.end());
  return std::span<const std::byte>(block).subspan(start);
}

void SideBand::order_by_time() {
  order(mappings);
  order(thread_names);
  order(thread_starts);
  order(thread_exits);
  order(switches);
  order(aux_writes);
  order(trace_starts);
  order(lost);
  order(kernel_symbols);
  order(text_pokes);
  order(trace_errors);
}

} // namespace ptlens::perfdata
