#include "measure/selection/call_numbers.hpp"

#include "cache/reading/call_columns.hpp"
#include "cache/reading/edge_blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>

namespace ptlens::measure {

std::vector<std::uint64_t> call_numbers(const Measurement& measurement,
                                        std::span<const stacks::FunctionId> functions,
                                        const CallSubset& rows) {
  using Key = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>; // start, thread, order
  const stacks::CallTable& calls = rows.calls();
  const auto key_of = [&](std::uint32_t row) {
    return Key(calls.start[row], calls.thread[row], index_of(rows.order(row)));
  };
  std::vector<std::uint32_t> by_start(calls.size());
  std::iota(by_start.begin(), by_start.end(), 0U);
  std::ranges::sort(by_start, {}, key_of);
  std::vector<Key> keys;
  keys.reserve(by_start.size());
  for (const std::uint32_t row : by_start) {
    keys.push_back(key_of(row));
  }
  // Returns the first key that is greater: one more call is before it and all later ones.
  const auto after = [&](const Key& key) {
    return static_cast<std::size_t>(std::ranges::upper_bound(keys, key) - keys.begin());
  };
  std::vector<std::uint64_t> before(keys.size() + 1);
  const cache::CallCache& cache = *measurement.cache;
  cache::CallStarts calls_of_block;
  for (const cache::EdgeBlock& source : cache::blocks_to(cache, functions)) {
    const cache::BlockEntry& entry = *source.entry;
    const std::size_t first = after({entry.first_start, 0, 0});
    if (first == after({entry.last_end, UINT32_MAX, UINT32_MAX})) {
      before[first] += entry.calls;
      continue;
    }
    const std::size_t readable = calls_of_block.read(cache, entry) ? entry.calls : 0;
    for (std::size_t call = 0; call < readable; ++call) {
      ++before[after({calls_of_block.starts[call], entry.thread, calls_of_block.orders[call]})];
    }
  }
  std::vector<std::uint64_t> numbers(calls.size());
  std::uint64_t number = 1;
  for (std::size_t at = 0; at < by_start.size(); ++at) {
    number += before[at];
    numbers[by_start[at]] = number;
  }
  return numbers;
}

} // namespace ptlens::measure
