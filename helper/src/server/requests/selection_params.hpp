// From the protocol's selection to that of measure/.
#pragma once

#include "measure/selection/selection.hpp"
#include "protocol/messages.hpp"

#include <optional>

namespace ptlens::server {

// Converts `selection` of the parameters; absent: every call. Returns the first bad field.
[[nodiscard]] protocol::Read<measure::Selection>
to_selection(const std::optional<protocol::Selection>& params);

} // namespace ptlens::server
