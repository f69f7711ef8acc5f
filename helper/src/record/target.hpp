// Which function of which file a request means.
#pragma once

#include "base/error.hpp"
#include "record/probes/probe_plan.hpp"
#include "record/recorder.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::record {

// A file that the target has mapped, or will have when it is started.
struct TargetFile {
  std::string path = {};      // in the target's file system, as perf will record it
  std::string open_path = {}; // how it is opened from here
  bool deleted = false;       // replaced since it was mapped
};

// The files that can hold the function: the executable first, then libraries.
class TargetFiles {
public:
  // Of the process, thread's process or program of the request; of `binary` alone for a CPU.
  // Errors: gone, no_rights, not_found.
  static Result<TargetFiles> of(const Request& request);

  [[nodiscard]] const std::vector<TargetFile>& files() const { return files_; }

  // The one that `binary` names by its path or the end of it, else the file of that path itself.
  // Errors: not_found.
  [[nodiscard]] Result<TargetFile> named(const std::string& binary) const;

  // Each file is opened once.
  Result<std::shared_ptr<const symbols::Binary>> open(const TargetFile& file);

  // The file whose Binary that is.
  [[nodiscard]] const TargetFile* file_of(const symbols::Binary* binary) const;

  // As StubResolver.
  std::optional<Place> resolve(std::string_view linkage_name);

private:
  struct Opened {
    TargetFile file = {};
    std::shared_ptr<const symbols::Binary> binary = {};
  };
  std::vector<TargetFile> files_;
  std::vector<Opened> opened_;
  std::string folder_; // relative paths start here
};

// The function that the request asks about. Errors: bad_input when none is named or several answer
// to the name in one file or in several of the program's own, not_found with the nearest names or
// with the functions that it was inlined into, bad_input when its file was replaced.
[[nodiscard]] Result<Place> find_target(const Request& request, TargetFiles& files);

// With request.all, every function that answers to the name, in files that are not the system's as
// well as in the first that has one; else the one of find_target. Errors: the same.
[[nodiscard]] Result<std::vector<Place>> find_targets(const Request& request, TargetFiles& files);

} // namespace ptlens::record
