// Binaries that are read before they are needed: while a program is recorded, its symbols and debug
// information are read, and the recording is then opened without that delay.
#pragma once

#include "symbols/binary.hpp"
#include "symbols/elf/file_identity.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptlens::symbols {

// May be used by several threads at once.
class ReadBinaries {
public:
  // Opens the binary at the path and reads all tables that opening a recording needs. Returns false
  // where it cannot be opened.
  bool read(const std::string& path);

  // Returns the binary of that path; nullptr where it was not read. A binary is not returned after
  // it, or any file that was read or looked for with it, has changed, so that the caller gets what
  // Binary::open would give now.
  [[nodiscard]] std::shared_ptr<const Binary> find(const std::string& path) const;

private:
  struct SeenFile {
    std::string path;
    std::optional<FileIdentity> identity; // nothing where there was no such file
  };
  struct Entry {
    std::shared_ptr<const Binary> binary;
    std::vector<SeenFile> seen;
  };

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_; // by path
};

} // namespace ptlens::symbols
