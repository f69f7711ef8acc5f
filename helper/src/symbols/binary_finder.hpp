// Search for binaries where perf finds them: under --symfs first, then in the recording's own
// folder (a folder that `ptlens record` wrote contains the vdso), then at the path itself, then in
// perf's build-id cache (~/.debug). A file whose build-id differs from the recorded one is not
// used. Each binary is opened once.
#pragma once

#include "symbols/binary.hpp"
#include "symbols/read_binaries.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ptlens::symbols {

struct MissingBinary {
  std::string path;     // as recorded
  std::string build_id; // hex, empty where not recorded
  std::string reason;   // one line
};

class BinaryFinder {
public:
  struct Options {
    std::string symfs;            // empty: none
    std::string recording_folder; // empty: none
    bool made_here = false;       // the recording is from the running machine: its vdso is ours
    // Paths whose files in the recording's folder are certainly the mapped ones. perf may have
    // stored the build-id of another file of that name.
    std::vector<std::string> certain = {};
    std::shared_ptr<const ReadBinaries> read = {}; // those that are open already; may be null
  };

  explicit BinaryFinder(Options options);

  // Returns the binary that was mapped under `path`, or nullptr; missing() then gives the reason.
  // `build_id` may be empty. "[vdso]" is found in the recording folder, in the build-id cache, or
  // in this process where the recording was made here. Other names in brackets, "//anon" and
  // similar names are never found.
  std::shared_ptr<const Binary> find(const std::string& path,
                                     const std::vector<std::uint8_t>& build_id);

  // Returns each binary that find() did not find, once, in the order of the requests.
  [[nodiscard]] const std::vector<MissingBinary>& missing() const;

private:
  [[nodiscard]] Result<std::shared_ptr<const Binary>> open(const std::string& file) const;

  Options options_;
  std::map<std::pair<std::string, std::vector<std::uint8_t>>, std::shared_ptr<const Binary>>
      opened_;
  std::vector<MissingBinary> missing_;
};

} // namespace ptlens::symbols
