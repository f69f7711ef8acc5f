#pragma once

#include "base/error.hpp"

#include <string>

namespace ptlens::record {

inline constexpr const char* vdso_name = "vdso.so";

// Writes the code of the helper's own vdso as `directory`/vdso.so. The vdso is the same in every
// process of this kernel and exists in no file, and the decoder needs it. Errors: failed.
Result<void> write_vdso(const std::string& directory);

} // namespace ptlens::record
