// Where a recording goes when the client does not say.
#pragma once

#include "base/error.hpp"

#include <string>

namespace ptlens::server {

// A folder that does not exist yet: $XDG_STATE_HOME/ptlens/recordings/TIME-FUNCTION, where
// XDG_STATE_HOME defaults to ~/.local/state and TIME is UTC. Its parent is made, for the user only.
[[nodiscard]] Result<std::string> new_recording_folder(const std::string& function);

} // namespace ptlens::server
