// Where a recording goes when the client does not say.
#pragma once

#include "base/error.hpp"

#include <string>

namespace ptlens::server {

// A folder that does not exist yet: PARENT/TIME-FUNCTION, where TIME is UTC. An empty parent is
// $XDG_STATE_HOME/ptlens/recordings, and XDG_STATE_HOME defaults to ~/.local/state. A parent that
// is not there is made, for the user only.
[[nodiscard]] Result<std::string> new_recording_folder(const std::string& function,
                                                       const std::string& parent = {});

} // namespace ptlens::server
