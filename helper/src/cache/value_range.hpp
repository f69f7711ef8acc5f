// The least and the most of many values. Processors with AVX2 compare several at once.
#pragma once

#include <cstdint>
#include <span>

// Before a function whose loops gain from AVX2: the processor's own is called.
#ifdef __x86_64__
#define PTLENS_ALSO_FOR_AVX2 [[gnu::target_clones("avx2", "default")]]
#else
#define PTLENS_ALSO_FOR_AVX2
#endif

namespace ptlens::cache {

// As signed numbers, which AVX2 can compare.
struct ValueRange {
  std::int64_t least = INT64_MAX; // as it is where there are no values
  std::int64_t most = INT64_MIN;
};

[[nodiscard]] ValueRange range_of(std::span<const std::uint64_t> values);

} // namespace ptlens::cache
