// The wall-clock flame graph: calls merged by their stack of functions.
#pragma once

#include "measure/flame/flame_tree.hpp"
#include "measure/measurement.hpp"
#include "measure/places/wait_places.hpp"
#include "measure/selection/selection.hpp"
#include "waits/waits.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptlens::measure {

enum class FlameTime { wall, on_cpu, off_cpu };

// Represents time outside user code as a function: the kernel, as far as it was not traced.
inline constexpr stacks::FunctionId outside_user_code{UINT32_MAX - 1};

// Returns why a frame waits; nothing for the frame of a function.
[[nodiscard]] std::optional<WaitCause> waits_for(stacks::FunctionId function);

// Returns the function of a frame other than the root.
[[nodiscard]] stacks::FunctionInfo frame_function(const Measurement& measurement,
                                                  stacks::FunctionId function);

// Without a function, returns all stacks with the time of the calls that the selection accepts and
// of the calls below them. With a function, its outermost selected calls are the first level.
// Unless the selection names states, these are its complete calls, or where it has none those in
// any state; without a function, calls in any state count. The calls below them do so always. An
// incomplete call counts with its lower bound; an unwound call whose end was not seen is only in
// the stacks of its calls. `inclusive` is the sum of `self` of a node and all nodes below it;
// on_cpu and off_cpu split each call's self time. A call's time outside user code is a leaf of its
// own, except in off_cpu, which consists of such time. With `waits`, what a call waited for is a
// leaf for each reason, in wall and in off_cpu. Nodes are merged into their parent's self time as
// by pruned(): this is much faster where there are many.
[[nodiscard]] FlameTree flame(const Measurement& measurement,
                              std::optional<stacks::FunctionId> function,
                              const Selection& selection, FlameTime time, double smallest,
                              const waits::Waits* waits = nullptr);
// With several functions, the outermost selected calls of any of them are the first level.
[[nodiscard]] FlameTree flame(const Measurement& measurement,
                              const std::vector<stacks::FunctionId>& functions,
                              const Selection& selection, FlameTime time, double smallest,
                              const waits::Waits* waits = nullptr);

} // namespace ptlens::measure
