// A recording in one file, to be opened on another machine: tar, compressed with zstd, of a folder
// as `ptlens record` writes it, with every binary that was mapped beneath it under the path that it
// had, its separate debug information beside it (NAME.debug), and bundle.json, which lists them,
// the XXH3 of every member, and where the sources were.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "engine/engine.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::engine {

struct BundledFile {
  std::string path;     // as recorded
  std::string build_id; // hex, empty: none
  std::string source;   // where it was found here
  std::uint64_t bytes = 0;
};

struct Bundle {
  std::string path;
  std::uint64_t bytes = 0; // of the bundle
  std::vector<BundledFile> files;
  std::vector<std::string> missing; // recorded paths whose file was not found, with the reason
  std::string source_root = {};     // above all sources of the program that are here; may be empty
};

// Errors: those of load; bad_input when `output` exists; failed with what could not be written.
[[nodiscard]] Result<Bundle> make_bundle(const std::string& recording, const OpenOptions& options,
                                         const std::string& output, const Progress& progress);

// The folder to open for RECORDING: that path itself, or, of a bundle, the folder in the user's
// cache to which it was unpacked, now or before. Entries of an archive that would leave that
// folder, links and devices are refused, and so are members that are not what their checksum says.
// Errors: bad_input, which names the member, no_rights, failed.
[[nodiscard]] Result<std::string> unpacked(const std::string& recording);

// Of a bundle whose sources are neither here nor mapped: what to tell the user. Else empty.
[[nodiscard]] std::string absent_sources(const std::string& recording, const SourceMap& map);

} // namespace ptlens::engine
