// `ptlens decode`: one branch or call per line, for comparison with other decoders. The threads
// follow one after the other, each in order of time.
#include "cli/commands.hpp"
#include "engine/engine.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <map>

namespace ptlens::cli {

Result<void> decode(const DecodeOptions& options) {
  std::int32_t only = -1;
  if (!options.tid.empty()) {
    std::from_chars(options.tid.data(), options.tid.data() + options.tid.size(), only);
  }
  std::string buffer;
  const auto write = [&](const flow::Run& run, const flow::Branch& branch, std::string_view kind,
                         std::string_view symbol) {
    if (only >= 0 && run.tid != only) {
      return;
    }
    fmt::format_to(std::back_inserter(buffer), "{}\t{}\t{}\t{}\t{:x}\t{:x}\t{}\n", branch.time_ns,
                   run.tid, run.cpu, kind, branch.from, branch.to, symbol);
    if (buffer.size() > (1U << 16U)) {
      std::cout << buffer;
      buffer.clear();
    }
  };
  auto summary = engine::decode(options.source.recording, open_options(options.source),
                                options.events == "calls", write, Progress{});
  std::cout << buffer;
  if (!summary) {
    return std::unexpected(summary.error());
  }
  return {};
}

} // namespace ptlens::cli
