// The rows of one thread. With probes in Go a thread has several, because the calls of goroutines
// that began on it overlap.
#pragma once

#include "stacks/calls/call.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

// Returns, for each row, the first row with the same process and thread.
[[nodiscard]] std::vector<std::uint32_t> first_rows(std::span<const stacks::ThreadInfo> rows);

// Returns the number of threads that the rows belong to.
[[nodiscard]] std::size_t count_threads(std::span<const stacks::ThreadInfo> rows);

} // namespace ptlens::measure
