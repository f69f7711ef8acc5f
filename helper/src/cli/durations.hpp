// Durations on the command line.
#pragma once

#include "base/error.hpp"

#include <string_view>

namespace ptlens::cli {

// Returns the duration in seconds of "2", "2s", "500ms", "1.5m", "20us" or "1h". Errors: bad_input,
// also without a unit where one is required.
[[nodiscard]] Result<double> parse_duration(std::string_view text, bool unit_required);

} // namespace ptlens::cli
