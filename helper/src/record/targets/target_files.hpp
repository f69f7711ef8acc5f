// The files of a target.
#pragma once

#include "base/error.hpp"
#include "record/request.hpp"
#include "record/targets/elf_symbols.hpp"
#include "record/targets/place.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::record {

// A file that the target has mapped, or will map when it starts.
struct TargetFile {
  std::string path = {};      // in the target's file system, as perf records it
  std::string open_path = {}; // the path that opens it from here; empty: the file was removed or
                              // replaced, and the rights do not suffice to open the old one
};

// The files that can contain the function: the executable first, then the libraries in the order in
// which the dynamic linker searches them.
class TargetFiles {
public:
  // Returns the files of the requested process, of the thread's process, or of the program. A CPU
  // has none. Errors: gone, no_rights, not_found.
  static Result<TargetFiles> of(const Request& request);

  [[nodiscard]] const std::vector<TargetFile>& files() const { return files_; }

  // Returns the mapped file whose path is `binary` or ends with it, or that `binary` opens, or else
  // the file with that
  // path. Errors: not_found.
  [[nodiscard]] Result<TargetFile> named(const std::string& binary) const;

  // Opens the file with its debug information, or returns the binary when it is already open.
  Result<std::shared_ptr<const symbols::Binary>> open(const TargetFile& file);

  // Returns the open binary of that path, or nullptr.
  [[nodiscard]] std::shared_ptr<const symbols::Binary> opened(const std::string& path) const;

  // Returns the file of an open binary, or nullptr.
  [[nodiscard]] const TargetFile* file_of(const symbols::Binary* binary) const;

  // Returns the function that the dynamic linker would bind to the linkage name. Reads no debug
  // information of a file that is not open.
  std::optional<Place> resolve(std::string_view linkage_name);

  [[nodiscard]] const ElfSymbols& symbols_of(const TargetFile& file);

private:
  struct Opened {
    TargetFile file = {};
    std::shared_ptr<const symbols::Binary> binary = {};
    bool has_debug_info = false; // it was not left out
  };
  Result<std::shared_ptr<const symbols::Binary>> open(const TargetFile& file, bool with_debug_info);

  std::vector<TargetFile> files_;
  std::vector<Opened> opened_;
  std::map<std::string, ElfSymbols> symbols_; // by path
  std::string folder_;                        // relative paths start in this folder
};

} // namespace ptlens::record
