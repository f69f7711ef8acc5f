// Selected calls in order of start, some at a time, so that memory does not depend on their number.
// The time is divided into windows; each block is read in every window that it overlaps.
#pragma once

#include "cache/reading/call_rows.hpp"
#include "cache/reading/edge_blocks.hpp"
#include "cache/reading/order_set.hpp"
#include "measure/measurement.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/selection/selection.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ptlens::measure {

class CallStream {
public:
  static constexpr std::size_t most_rows = 1U << 18U;

  // The calls of the functions, in the states that the selection names, else in any. `rows`: at
  // most so many at a time, where not more start in the same ns. Reads every block once, so that
  // damage is known before the first call is taken. The measurement must outlive the object.
  CallStream(const Measurement& measurement, std::span<const stacks::FunctionId> functions,
             const Selection& selection, std::size_t rows = most_rows);

  // Returns the next calls; nothing after the last.
  [[nodiscard]] std::optional<CallSubset> next();

private:
  struct Found {
    std::uint64_t start = 0;
    std::uint32_t thread = 0;
    std::uint32_t order = 0;
    cache::CallRef call;
  };

  [[nodiscard]] bool find(std::uint64_t end);
  void find_in(const cache::EdgeBlock& source, std::uint64_t end);

  const cache::CallCache& cache_;
  stacks::CallStates states_;
  std::size_t rows_;
  std::optional<cache::OrderSet> accepted_; // nothing: all
  std::vector<cache::EdgeBlock> sources_;
  std::uint64_t begin_ = UINT64_MAX; // of the window
  std::uint64_t length_ = 1;
  std::uint64_t last_ = 0; // no call starts later
  std::vector<Found> found_;
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint32_t> orders_;
  std::vector<std::uint8_t> flags_;
};

} // namespace ptlens::measure
