// Opens each binary once and finds it where perf would: under --symfs first, then the recording's
// own folder (a directory that `ptlens record` wrote keeps the vdso there), then the path itself,
// then perf's build-id cache (~/.debug). A file whose build-id differs from the recorded one is
// not used.
#pragma once

#include "symbols/binary.hpp"

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
    bool made_here = false;       // by the machine we run on: its vdso is ours
  };

  explicit BinaryFinder(Options options);

  // The binary that was mapped under `path`, or nullptr; the reason is then in missing().
  // `build_id` may be empty. "[vdso]" is found in the recording folder, in the build-id cache, or
  // in this process where the recording was made here; other names in brackets, "//anon" and the
  // like are never found.
  std::shared_ptr<const Binary> find(const std::string& path,
                                     const std::vector<std::uint8_t>& build_id);

  // Each binary that find() could not give, once, in the order asked for.
  [[nodiscard]] const std::vector<MissingBinary>& missing() const;

private:
  Options options_;
  std::map<std::pair<std::string, std::vector<std::uint8_t>>, std::shared_ptr<const Binary>>
      opened_;
  std::vector<MissingBinary> missing_;
};

} // namespace ptlens::symbols
