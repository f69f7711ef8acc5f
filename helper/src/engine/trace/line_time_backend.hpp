// Line time: a pass over all branches of a trace for the lines of some functions.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "engine/recording/loaded_recording.hpp"
#include "line_time/line_times.hpp"
#include "stacks/calls/call.hpp"

#include <span>

namespace ptlens::engine {

// The functions by binary and address; copies and parts that the compiler made of them belong to
// them. Errors: not_found where none of their code has lines, cancelled.
[[nodiscard]] Result<measure::LineTimes>
measure_line_times(const LoadedRecording& loaded, std::span<const stacks::FunctionInfo> functions,
                   const Progress& progress);

} // namespace ptlens::engine
