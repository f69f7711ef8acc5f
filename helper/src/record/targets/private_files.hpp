// Copies of the files that only the measured process sees under their paths: those of a container,
// a chroot or a private mount, and files that were removed or replaced since the process mapped
// them.
#pragma once

#include "record/manifest.hpp"
#include "record/request.hpp"

#include <string>

namespace ptlens::record {

// Copies those files of the requested process to the recording's folder, FOLDER/PATH, where
// symbols::BinaryFinder looks first, and lists them in the manifest. Files that are there already
// are left alone. Adds a note on files that were not copied: the copies take at most 1 GiB.
void copy_private_files(const Request& request, const std::string& folder, Manifest& manifest);

} // namespace ptlens::record
