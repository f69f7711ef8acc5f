// The wall-clock flame graph: calls merged by their stack of functions, as flat columns (never a
// nested tree: see the note in export/).
#pragma once

#include "measure/measurement.hpp"
#include "measure/selection/selection.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptlens::measure {

enum class FlameTime { wall, on_cpu, off_cpu };

// Stands for the function of time outside user code: the kernel, as far as it was not traced.
inline constexpr std::uint32_t outside_user_code = stacks::no_call - 1;

// The frame's function; `function` is a FlameTree's, not the root's.
[[nodiscard]] stacks::FunctionInfo frame_function(const Measurement& measurement,
                                                  std::uint32_t function);

// Node 0 is the root ("all"), its function is no_call. Parents come before children.
struct FlameTree {
  std::vector<std::uint32_t> parent;
  std::vector<std::uint32_t> function;
  std::vector<std::uint64_t> inclusive; // ns
  std::vector<std::uint64_t> self;      // ns
  std::vector<std::uint64_t> calls;

  [[nodiscard]] std::size_t size() const { return parent.size(); }
};

// Without a function: all stacks, and in them the time of the calls that the selection admits and
// of what they called. With one: its outermost selected calls as the first level, and what they
// called. Calls of every state count: an incomplete one with its lower bound. inclusive is the sum
// of self over a node and all below it; on_cpu and off_cpu split each call's self time. What a call
// spent outside user code is a leaf of its own below it, except in off_cpu, all of which is. Nodes
// below
// `smallest` (share of the root's time, 0 keeps all) are merged into their parent's self time.
[[nodiscard]] FlameTree flame(const Measurement& measurement, std::optional<std::uint32_t> function,
                              const Selection& selection, FlameTime time, double smallest);
// With several functions: the outermost selected calls of any of them as the first level.
[[nodiscard]] FlameTree flame(const Measurement& measurement,
                              const std::vector<std::uint32_t>& functions,
                              const Selection& selection, FlameTime time, double smallest);

} // namespace ptlens::measure
