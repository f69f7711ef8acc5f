#pragma once

#include <string>

namespace ptlens {

// Copies a file and creates the folder of the copy. The copy shares its bytes with the original
// where the file system supports it. Returns false, and leaves no copy, where that fails.
bool copy_file(const std::string& from, const std::string& to);

} // namespace ptlens
