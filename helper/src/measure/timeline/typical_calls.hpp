// One call of a function, and the typical calls that it may be compared with, found in the blocks
// of the function alone.
#pragma once

#include "base/error.hpp"
#include "cache/reading/call_rows.hpp"
#include "cache/reading/window_calls.hpp"
#include "measure/measurement.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace ptlens::measure {

// The call that a user names as TID:START.
struct CallName {
  std::int32_t tid = -1;
  std::uint64_t start = 0;
};
// Errors: bad_input.
[[nodiscard]] Result<CallName> parse_call_name(std::string_view text);

// A call by its place in a thread.
struct PlacedCall {
  cache::Window window;
  std::uint32_t order = 0;
};

// Where a call is stored, and when it ran.
struct StoredCall {
  cache::CallRef ref;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t order = 0;
  std::uint32_t before = 0; // how much lower the order of the first call in it is

  // Orders calls as the rows of a table.
  [[nodiscard]] auto place() const {
    return std::pair(ref.block->thread, cache::place_in_thread(start, order, before));
  }
  [[nodiscard]] cache::Window window() const {
    return {.thread = ref.block->thread, .begin = start, .end = end};
  }
  [[nodiscard]] PlacedCall placed() const { return {.window = window(), .order = order}; }
};

// Returns the outermost call of the function that began on that thread at that time.
[[nodiscard]] std::optional<StoredCall>
find_call(const Measurement& measurement, stacks::FunctionId function, const CallName& name);

// Returns the start that is nearest to the wanted one among the calls of the function on that
// thread.
[[nodiscard]] std::optional<std::uint64_t>
nearest_start(const Measurement& measurement, stacks::FunctionId function, const CallName& name);

// Returns the complete calls of the function, without `call`, whose latency is between the 40th and
// the 60th percentile of theirs; if some have the same caller, only these. The best come first:
// those with the same caller and thread, then those nearest to the median latency. `most`: at least
// one.
[[nodiscard]] std::vector<StoredCall> typical_calls(const Measurement& measurement,
                                                    stacks::FunctionId function,
                                                    const StoredCall& call, std::size_t most);

} // namespace ptlens::measure
