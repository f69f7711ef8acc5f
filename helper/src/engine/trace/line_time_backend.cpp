// Finds the code of the functions, and feeds each thread's branches to its LineWalk.
#include "engine/trace/line_time_backend.hpp"

#include "base/cancellation.hpp"
#include "engine/trace/trace_threads.hpp"
#include "line_time/line_walk.hpp"
#include "line_time/timed_lines.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace ptlens::engine {

namespace {

line_time::TimedCode code_of(const symbols::Binary& binary,
                             const std::set<std::uint64_t>& addresses) {
  line_time::TimedCode code{.binary = &binary, .lines = {}, .entries = {}};
  std::vector<std::uint32_t> indices;
  const std::span<const symbols::Function> all = binary.functions();
  for (std::uint32_t index = 0; index < all.size(); ++index) {
    if (addresses.contains(all[index].address) || addresses.contains(all[index].original)) {
      indices.push_back(index);
      code.entries.push_back(all[index].address);
    }
  }
  code.lines = binary.own_lines(indices);
  return code;
}

std::vector<line_time::TimedCode> timed_code(const LoadedRecording& loaded,
                                             std::span<const stacks::FunctionInfo> functions) {
  std::vector<line_time::TimedCode> code;
  std::set<const symbols::Binary*> done;
  for (const symbols::MappedCode* mapped : loaded.spaces->binaries()) {
    std::set<std::uint64_t> addresses;
    for (const stacks::FunctionInfo& function : functions) {
      if (function.binary == mapped->path) {
        addresses.insert(function.address);
      }
    }
    if (!addresses.empty() && done.insert(mapped->binary.get()).second) {
      code.push_back(code_of(*mapped->binary, addresses));
    }
  }
  return code;
}

Error no_lines(const LoadedRecording& loaded) {
  return {.kind = Error::Kind::not_found,
          .message = "none of the functions has code with line numbers",
          .file = loaded.path,
          .remedy = "compile the program with -g"};
}

} // namespace

Result<line_time::LineTimes> measure_line_times(const LoadedRecording& loaded,
                                                std::span<const stacks::FunctionInfo> functions,
                                                const Progress& progress) {
  progress.report({"reading debug information", 0, 0, "bytes"});
  const Cancellable scope(progress);
  line_time::TimedLines lines(timed_code(loaded, functions));
  if (progress.cancelled()) {
    return std::unexpected(decoding_cancelled());
  }
  if (std::ranges::none_of(lines.lines(), [](std::uint32_t line) { return line != 0; })) {
    return std::unexpected(no_lines(loaded));
  }
  Branches source(loaded, flow::Detail::branches);
  std::vector<stacks::ThreadInfo> infos;
  Threads threads(loaded, infos, [&](std::uint32_t, std::int32_t tid) {
    return std::make_unique<line_time::LineWalk>(lines, *loaded.context_switches, tid);
  });
  const auto taken = take_all(source, loaded.recording.trace_bytes(), progress,
                              [&threads](flow::Run& run) { threads.take(run); });
  if (!taken) {
    return std::unexpected(taken.error());
  }
  (void)threads.finish();
  return line_time::line_times(lines, source.summary().has_time);
}

} // namespace ptlens::engine
