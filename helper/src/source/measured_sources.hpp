// What the sources and the binaries of a recording were when it was made, kept beside it as
// perf.data.sources: checksums of the lines of each source file, and the build-id of each binary.
// A file is only kept where it is certain to be what the binary was built from: it is not newer
// than the binary, nor the binary than the recording. Texts themselves are not kept.
#pragma once

#include "measure/measurement.hpp"
#include "source/text_lines.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace ptlens::engine {

struct MeasuredBinary {
  std::string build_id;        // hex, empty where it has none
  std::uint64_t size = 0;      // bytes
  std::int64_t changed_ns = 0; // when the file was last written, ns since 1970
};

struct MeasuredSources {
  std::map<std::string, TextLines> files;         // by path as the debug information names it
  std::map<std::string, MeasuredBinary> binaries; // by path as recorded
};

// What was kept when the recording was first opened; else looks now and keeps it. Never fails:
// what cannot be read, or is damaged, is not known.
[[nodiscard]] MeasuredSources measured_sources(const std::string& recording,
                                               const measure::Measurement& measurement);

// When the file was last written, ns since 1970; 0 where there is none.
[[nodiscard]] std::int64_t changed_ns(const std::string& path);

// Whether the file at `path` is another binary than the measured one. One that is gone is not.
[[nodiscard]] bool was_replaced(const std::string& path, const MeasuredBinary& measured);

} // namespace ptlens::engine
