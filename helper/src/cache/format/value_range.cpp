// The compiler vectorises the plain loop.
#include "cache/format/value_range.hpp"

#include <cstddef>

namespace ptlens::cache {
namespace {

PTLENS_ALSO_FOR_AVX2 ValueRange range_of(const std::uint64_t* values, std::size_t count) {
  ValueRange range;
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<std::int64_t>(values[i]);
    range.least = value < range.least ? value : range.least;
    range.most = value > range.most ? value : range.most;
  }
  return range;
}

} // namespace

ValueRange range_of(std::span<const std::uint64_t> values) {
  return range_of(values.data(), values.size());
}

} // namespace ptlens::cache
