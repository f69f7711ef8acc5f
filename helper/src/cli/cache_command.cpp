// `ptlens cache`: where the calls of a recording are cached, and their removal.
#include "cli/commands.hpp"
#include "engine/cache/cache_status.hpp"
#include "export/json/json_text.hpp"
#include "export/text/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iostream>

namespace ptlens::cli {
namespace {

Result<void> remove(const CacheOptions& options) {
  const auto removed = engine::remove_caches(options.source.recording);
  if (!removed) {
    return std::unexpected(removed.error());
  }
  if (options.source.json) {
    std::cout << exporting::dump(exporting::Json{{"removed", *removed}}) << '\n';
    return {};
  }
  for (const std::string& path : *removed) {
    std::cout << "removed " << exporting::printable(path) << '\n';
  }
  if (removed->empty()) {
    std::cout << "nothing was cached\n";
  }
  return {};
}

} // namespace

Result<void> cache(const CacheOptions& options) {
  if (options.remove) {
    return remove(options);
  }
  const auto status = engine::cache_status(options.source.recording, open_options(options.source));
  if (!status) {
    return std::unexpected(status.error());
  }
  const bool counted = status->exists && status->calls != 0;
  const double bytes_a_call =
      counted ? static_cast<double>(status->bytes) / static_cast<double>(status->calls) : 0;
  if (options.source.json) {
    std::cout << exporting::dump(exporting::Json{{"path", status->path},
                                                 {"exists", status->exists},
                                                 {"valid", status->invalid.empty()},
                                                 {"reason", status->invalid},
                                                 {"bytes", status->bytes},
                                                 {"calls", status->calls},
                                                 {"bytes_a_call", bytes_a_call}})
              << '\n';
    return {};
  }
  std::cout << fmt::format("{}\n", status->path.empty()
                                       ? "no folder can be written, so nothing is cached"
                                       : exporting::printable(status->path));
  if (counted) {
    std::cout << fmt::format("{} bytes, {}, {:.1f} bytes per call\n",
                             exporting::count(status->bytes),
                             exporting::count(status->calls, "call"), bytes_a_call);
  }
  std::cout << (status->invalid.empty() ? "valid\n"
                                        : fmt::format("not used: {}\n", status->invalid));
  return {};
}

} // namespace ptlens::cli
