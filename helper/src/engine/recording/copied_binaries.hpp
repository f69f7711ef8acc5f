// Copies of the measured binaries in the recording's folder, where symbols::BinaryFinder looks
// first, so that the recording can be decoded after the program was rebuilt.
#pragma once

#include "base/error.hpp"

#include <string>

namespace ptlens::engine {

// Copies the binaries to a folder that `ptlens record` has just written. Leaves out system
// libraries, binaries with separate debug information, and binaries beyond a total of 512 MiB. The
// copies share their bytes with the originals where the file system supports it. Never fails: a
// binary that cannot be copied is left out.
void keep_binaries(const std::string& recording);

} // namespace ptlens::engine
