// Copies of the measured binaries in the recording's own folder, where symbols::BinaryFinder looks
// first: so that the recording can still be read once the program has been built anew.
#pragma once

#include "base/error.hpp"

#include <string>

namespace ptlens::engine {

// Of a folder that `ptlens record` has just written. Left out are libraries of the system, binaries
// whose debug information is elsewhere, and what would make more than 512 MiB. A file system that
// can shares the bytes with the original. Never fails: a binary that cannot be copied is not kept.
void keep_binaries(const std::string& recording);

} // namespace ptlens::engine
