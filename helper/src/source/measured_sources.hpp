// The sources and binaries of a recording as they were when it was made, stored beside it as
// perf.data.sources: checksums of the lines of each source file, and the build-id of each binary.
// A source is only stored where it is certain to be the text that the binary was built from: it is
// not newer than the binary, and the binary is not newer than the recording. The texts themselves
// are not stored.
#pragma once

#include "measure/measurement.hpp"
#include "source/text_lines.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace ptlens::source {

struct MeasuredBinary {
  std::string build_id;        // hex, empty where it has none
  std::uint64_t size = 0;      // bytes
  std::int64_t changed_ns = 0; // when the file was last written, ns since 1970
};

struct MeasuredSources {
  std::map<std::string, TextLines> files;         // by path as the debug information names it
  std::map<std::string, MeasuredBinary> binaries; // by path as recorded
};

// Returns what was stored when the recording was first opened; else reads the sources now and
// stores the result. Never fails: files that cannot be read, or a damaged perf.data.sources, count
// as unknown.
[[nodiscard]] MeasuredSources measured_sources(const std::string& recording,
                                               const measure::Measurement& measurement);

} // namespace ptlens::source
