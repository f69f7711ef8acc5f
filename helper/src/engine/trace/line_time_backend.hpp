// The pass over all branches of a trace that feeds line_time/ with the code of some functions.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "engine/recording/loaded_recording.hpp"
#include "line_time/line_times.hpp"
#include "stacks/calls/call.hpp"

#include <span>

namespace ptlens::engine {

// Measures the lines of the functions, which are identified by binary and address. Copies and parts
// that the compiler made of a function belong to it. Errors: not_found where none of their code has
// lines; cancelled.
[[nodiscard]] Result<line_time::LineTimes>
measure_line_times(const LoadedRecording& loaded, std::span<const stacks::FunctionInfo> functions,
                   const Progress& progress);

} // namespace ptlens::engine
