// The map from source folders of the build machine to folders of this machine.
#pragma once

#include "base/error.hpp"
#include "measure/measurement.hpp"
#include "measure/report/inlined.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ptlens::engine {

struct SourceRoot {
  std::string from; // the recorded folder, without a slash at its end
  std::string to;
};
using SourceMap = std::vector<SourceRoot>; // the first match counts

// Parses "FROM=TO". Errors: bad_input.
[[nodiscard]] Result<SourceRoot> parse_source_map(std::string_view text);

// Returns the path on this machine. Paths that are not in a mapped folder are unchanged.
[[nodiscard]] std::string mapped_path(const SourceMap& map, const std::string& path);

// Maps the source files of all functions and call sites.
void map_sources(const SourceMap& map, measure::Measurement& measurement);

} // namespace ptlens::engine
