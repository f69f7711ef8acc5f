// `ptlens bundle`.
#include "cli/commands.hpp"
#include "engine/bundle/bundle.hpp"
#include "export/json/json_text.hpp"
#include "export/text/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iostream>

namespace ptlens::cli {

Result<void> bundle(const BundleOptions& options) {
  const auto made = engine::make_bundle(options.source.recording, open_options(options.source),
                                        options.output, Progress{});
  if (!made) {
    return std::unexpected(made.error());
  }
  if (options.source.json) {
    exporting::Json files = exporting::Json::array();
    for (const engine::BundledFile& file : made->files) {
      files.push_back({{"path", file.path},
                       {"build_id", file.build_id},
                       {"source", file.source},
                       {"bytes", file.bytes}});
    }
    std::cout << exporting::dump(exporting::Json{{"path", made->path},
                                                 {"bytes", made->bytes},
                                                 {"files", std::move(files)},
                                                 {"missing", made->missing}})
              << '\n';
    return {};
  }
  std::cout << fmt::format("{}: {}, with {}\n", exporting::printable(made->path),
                           exporting::bytes(made->bytes),
                           exporting::count(made->files.size(), "mapped file"));
  for (const std::string& missing : made->missing) {
    std::cout << fmt::format("  not found: {}\n", exporting::printable(missing));
  }
  return {};
}

} // namespace ptlens::cli
