// Each path is compared with each root, as there are few roots.
#include "engine/recording/source_map.hpp"

#include <fmt/format.h>

namespace ptlens::engine {

Result<SourceRoot> parse_source_map(std::string_view text) {
  const std::size_t equals = text.find('=');
  std::string_view from = text.substr(0, equals);
  std::string_view to = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  while (from.size() > 1 && from.ends_with('/')) {
    from.remove_suffix(1);
  }
  while (to.size() > 1 && to.ends_with('/')) {
    to.remove_suffix(1);
  }
  if (from.empty() || to.empty()) {
    return std::unexpected(
        Error{.kind = Error::Kind::bad_input,
              .message = fmt::format("\"{}\" is not FROM=TO", text),
              .remedy = "write it as /path/on/the/build/machine=/path/on/this/machine"});
  }
  return SourceRoot{.from = std::string(from), .to = std::string(to)};
}

std::string mapped_path(const SourceMap& map, const std::string& path) {
  for (const SourceRoot& root : map) {
    if (path == root.from) {
      return root.to;
    }
    const bool below =
        path.starts_with(root.from) && (root.from.ends_with('/') || path[root.from.size()] == '/');
    if (below) {
      std::string_view rest = std::string_view(path).substr(root.from.size());
      if (rest.starts_with('/')) {
        rest.remove_prefix(1);
      }
      return root.to + (root.to.ends_with('/') ? "" : "/") + std::string(rest);
    }
  }
  return path;
}

void map_sources(const SourceMap& map, measure::Measurement& measurement) {
  if (map.empty()) {
    return;
  }
  for (stacks::FunctionInfo& function : measurement.functions) {
    function.file = mapped_path(map, function.file);
  }
  for (stacks::CallSite& site : measurement.sites) {
    site.file = mapped_path(map, site.file);
  }
}

} // namespace ptlens::engine
