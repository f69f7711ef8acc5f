// The default folder of a recording.
#pragma once

#include "base/error.hpp"

#include <string>

namespace ptlens::server {

// Returns the path of a new folder, PARENT/TIME-FUNCTION, where TIME is UTC. An empty parent means
// $XDG_STATE_HOME/ptlens/recordings, and XDG_STATE_HOME defaults to ~/.local/state. Creates a
// missing parent, readable by the user only.
[[nodiscard]] Result<std::string> new_recording_folder(const std::string& function,
                                                       const std::string& parent = {});

} // namespace ptlens::server
