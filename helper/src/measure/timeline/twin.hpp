// The typical call that is most like a given one: with the longest common subsequence of the calls
// that both made. Both sequences are aligned by it.
#pragma once

#include "stacks/calls/call.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ptlens::measure {

// A call that one or both of the calls made.
struct AlignedCall {
  static constexpr std::uint32_t none = UINT32_MAX;
  std::uint32_t row = none;      // made by the given call
  std::uint32_t twin_row = none; // made by its twin

  [[nodiscard]] bool in_both() const { return row != none && twin_row != none; }
};

struct Twin {
  std::uint32_t row = 0;
  bool same_caller = false;
  bool same_thread = false;
  std::vector<AlignedCall> calls = {};
  // Indices of `calls`. The first call that only one of them made; the call whose latency differs
  // most.
  std::optional<std::size_t> first_divergence = {};
  std::optional<std::size_t> largest_difference = {};
};

inline constexpr std::size_t most_compared_children = 512; // the first ones, of each call

// Returns the index of the call that is most like the given one: the first with the longest common
// subsequence, one on the same thread if there is. The table must contain what they called
// directly.
[[nodiscard]] std::size_t most_alike(const stacks::CallTable& table, std::uint32_t row,
                                     std::span<const std::uint32_t> others);

// Compares the call with its twin.
[[nodiscard]] Twin compare(const stacks::CallTable& table, std::uint32_t row,
                           std::uint32_t twin_row);

// Aligns two sequences of calls by function and call site.
[[nodiscard]] std::vector<AlignedCall> align(const stacks::CallTable& table,
                                             std::span<const std::uint32_t> one,
                                             std::span<const std::uint32_t> other);

// Aligns the calls that two calls made.
[[nodiscard]] std::vector<AlignedCall> align_children(const stacks::CallTable& table,
                                                      std::uint32_t one, std::uint32_t other);

} // namespace ptlens::measure
