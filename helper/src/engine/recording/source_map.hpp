// Where the sources of a recorded program are on this machine: directories as they were where it
// was built, and what stands for them here.
#pragma once

#include "base/error.hpp"
#include "measure/measurement.hpp"
#include "measure/report/inlined.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ptlens::engine {

struct SourceRoot {
  std::string from; // recorded, without a slash at its end
  std::string to;
};
using SourceMap = std::vector<SourceRoot>; // the first that fits counts

// "FROM=TO". Errors: bad_input.
[[nodiscard]] Result<SourceRoot> parse_source_map(std::string_view text);

// The path as it is here: that of the first root that it is below or equal to, else itself.
[[nodiscard]] std::string mapped_path(const SourceMap& map, const std::string& path);

// All source files of functions and call sites.
void map_sources(const SourceMap& map, measure::Measurement& measurement);

} // namespace ptlens::engine
