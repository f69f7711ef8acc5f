// The least and the greatest of many values.
#pragma once

#include <cstdint>
#include <span>

// Marks a function whose loops benefit from AVX2 and BMI2: it is compiled twice, and the processor
// decides.
#ifdef __x86_64__
#define PTLENS_ALSO_FOR_AVX2 [[gnu::target_clones("arch=x86-64-v3", "default")]]
#else
#define PTLENS_ALSO_FOR_AVX2
#endif

namespace ptlens::cache {

// The values as signed numbers, which AVX2 can compare.
struct ValueRange {
  std::int64_t least = INT64_MAX; // without values
  std::int64_t most = INT64_MIN;
};

[[nodiscard]] ValueRange range_of(std::span<const std::uint64_t> values);

} // namespace ptlens::cache
