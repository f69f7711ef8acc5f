// A recording in one file, which can be opened on another machine: a tar, compressed with zstd, of
// a folder as `ptlens record` writes it. Below the folder are all mapped binaries under their
// recorded paths, with separate debug information beside them (NAME.debug). bundle.json lists these
// files, the XXH3 of every member, and the folder of the sources.
#pragma once

#include "base/error.hpp"
#include "base/note.hpp"
#include "base/progress.hpp"
#include "engine/recording/open_options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::engine {

struct BundledFile {
  std::string path;     // as recorded
  std::string build_id; // hex, empty: none
  std::string source;   // its path on this machine
  std::uint64_t bytes = 0;
};

struct Bundle {
  std::string path;
  std::uint64_t bytes = 0; // of the bundle
  std::vector<BundledFile> files;
  std::vector<std::string> missing; // recorded paths of files that were not found, with reasons
  std::string source_root = {};     // the folder of all sources that exist here; may be empty
};

// Writes the bundle. Errors: those of load; bad_input when `output` exists; failed when it cannot
// be written.
[[nodiscard]] Result<Bundle> make_bundle(const std::string& recording, const OpenOptions& options,
                                         const std::string& output, const Progress& progress);

// Returns the folder to open for RECORDING: its path itself or, for a bundle, the folder in the
// user's cache into which it was unpacked, now or earlier. Refuses entries that would leave that
// folder, links, devices, and members with a wrong checksum. Errors: bad_input, which names the
// member; no_rights; failed.
[[nodiscard]] Result<std::string> unpacked(const std::string& recording);

// Returns a note for the user if the sources of a bundle neither exist here nor are mapped.
[[nodiscard]] std::optional<Note> absent_sources(const std::string& recording,
                                                 const SourceMap& map);

} // namespace ptlens::engine
