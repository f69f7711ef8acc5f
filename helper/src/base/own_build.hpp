// Which build of the helper this is: others may cache other things.
#pragma once

#include <string>

namespace ptlens {

// Returns a hash of the helper's ELF notes, which contain its build-id.
[[nodiscard]] const std::string& own_build();

} // namespace ptlens
