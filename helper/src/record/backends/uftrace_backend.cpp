#include "record/backends/uftrace_backend.hpp"

#include "record/machine/machine.hpp"
#include "record/processes/files.hpp"
#include "record/targets/target_files.hpp"
#include "record/targets/target_functions.hpp"
#include "record/uftrace/patch_log.hpp"
#include "record/uftrace/program_hooks.hpp"
#include "record/uftrace/uftrace_command.hpp"
#include "record/uftrace/uftrace_session.hpp"
#include "uftrace/folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unordered_set>

namespace ptlens::record {
namespace {

constexpr std::uint64_t ns_per_us = 1000;
constexpr std::size_t most_log_bytes = std::size_t{64} << 20U;
constexpr std::uint64_t smallest_patched = 6; // bytes: libmcount, mcount_patch_func

Result<std::string> uftrace_program() {
  std::string uftrace = find_program("uftrace");
  if (uftrace.empty()) {
    return std::unexpected(Error{.kind = Error::Kind::not_found,
                                 .message = "uftrace is not installed",
                                 .remedy = "sudo apt-get install uftrace"});
  }
  return uftrace;
}

Result<void> check_target_kind(const Request& request) {
  if (!request.program.empty()) {
    return {};
  }
  return std::unexpected(
      Error{.kind = Error::Kind::bad_input,
            .message = fmt::format("uftrace measures only a program that it starts, and not {}",
                                   target_text(request)),
            .remedy = "name the program after --, or use --backend uprobe"});
}

class UftraceRecorder {
public:
  UftraceRecorder(const Request& request, const std::string& folder, const Progress& progress,
                  Manifest& manifest)
      : request_(request), folder_(folder), log_(folder + ".log"), progress_(progress),
        manifest_(manifest) {}

  Result<Summary> go() {
    if (auto checked = check_target_kind(request_); !checked) {
      return std::unexpected(checked.error());
    }
    const auto uftrace = uftrace_program();
    if (!uftrace) {
      return std::unexpected(uftrace.error());
    }
    auto files = TargetFiles::of(request_);
    if (!files) {
      return std::unexpected(files.error());
    }
    program_ = files->files().front().path;
    const auto hooks = program_hooks(program_);
    if (!hooks) {
      return std::unexpected(hooks.error());
    }
    UftraceSetting setting{.uftrace = *uftrace, .folder = folder_, .log = log_, .only = {}};
    if (request_.names_function()) {
      const auto targets = find_targets(request_, *files);
      if (!targets) {
        return std::unexpected(targets.error());
      }
      for (const Place& target : *targets) {
        wanted_.push_back(target->linkage_name);
      }
      setting.only = request_.filter ? wanted_ : std::vector<std::string>();
    }
    manifest_.binary = program_;
    manifest_.perf_command = uftrace_command(request_, *hooks, setting);
    auto end = run_uftrace({.command = manifest_.perf_command,
                            .folder = folder_,
                            .working_directory = request_.working_directory,
                            .environment = request_.environment,
                            .duration_s = request_.duration_s,
                            .most_bytes = request_.most_bytes},
                           progress_);
    const std::string log = read_text(log_, most_log_bytes).value_or("");
    std::error_code ignored;
    std::filesystem::remove(log_, ignored);
    if (!end) {
      return std::unexpected(end.error());
    }
    const PatchLog patches = parse_patch_log(log);
    const auto recorded = uftrace::open_folder(folder_);
    if (!recorded) {
      return std::unexpected(nothing_recorded(*end, patches, recorded.error()));
    }
    note_filters();
    if (!hooks->compiled_in) {
      note_unpatched(patches, *files);
    }
    note_end(*end);
    return summary_of(*end, *recorded);
  }

private:
  Error nothing_recorded(const UftraceEnd& end, const PatchLog& patches,
                         const Error& reason) const {
    const std::string& said = patches.message.empty() ? end.last_line : patches.message;
    std::error_code failed;
    if (!std::filesystem::exists(std::filesystem::path(folder_) / "info", failed)) {
      return {.message = fmt::format("uftrace recorded nothing: {}",
                                     said.empty() ? "it gave no reason" : said),
              .file = program_,
              .remedy = "check that the program runs by itself, or use --backend uprobe"};
    }
    Error error = reason;
    if (request_.filter || request_.shortest_ns != 0) {
      error = {.message = fmt::format(
                   "nothing was recorded in {:.1f} s: no call passed the filters", end.measured_s),
               .file = program_,
               .remedy = "omit --filter and --min-latency"};
    } else if (patches.patched.empty()) {
      error.remedy =
          "uftrace could patch no function of the program: use --backend uprobe, or build "
          "it with -fpatchable-function-entry=5";
    }
    return error;
  }

  void note_filters() {
    if (request_.filter && !wanted_.empty()) {
      manifest_.notes.push_back(make_note("filtered_function",
                                          "only {} and the functions that it calls were recorded",
                                          request_.function));
    }
    if (request_.shortest_ns != 0) {
      manifest_.notes.push_back(make_note(
          "filtered_short_calls",
          "calls of less than {} µs were left out, with all that they called: counts and means are "
          "those of the longer calls, and the time of the short ones is self time of their callers",
          fmt::format("{:g}", static_cast<double>(request_.shortest_ns) / ns_per_us)));
    }
    if (request_.depth != 0) {
      manifest_.notes.push_back(make_note(
          "filtered_depth",
          "calls that were more than {} deep were left out: their time is self time of the callers",
          request_.depth));
    }
  }

  // Names the functions without a hook: those that uftrace could not patch, and those that are too
  // small.
  void note_unpatched(const PatchLog& patches, TargetFiles& files) {
    const auto binary = files.open(files.files().front());
    if (!binary) {
      return;
    }
    const std::unordered_set<std::string_view> patched(patches.patched.begin(),
                                                       patches.patched.end());
    const std::unordered_set<std::string_view> refused(patches.failed.begin(),
                                                       patches.failed.end());
    std::vector<std::string> names;
    for (const symbols::Function& function : (*binary)->functions()) {
      const bool code = function.kind == symbols::Function::Kind::code &&
                        !function.linkage_name.empty() && !function.part;
      const std::uint64_t size =
          function.ranges.empty() ? 0 : function.ranges.front().high - function.ranges.front().low;
      const bool small = size < smallest_patched && !patched.contains(function.linkage_name);
      const bool failed = refused.contains(function.linkage_name);
      if (code && (small || failed) && !function.linkage_name.starts_with("_start") &&
          function.linkage_name != "_init" && function.linkage_name != "_fini") {
        names.push_back(function.name);
        if (std::ranges::find(wanted_, function.linkage_name) != wanted_.end()) {
          note_wanted(function.name);
        }
      }
    }
    if (names.empty()) {
      return;
    }
    constexpr std::size_t shown = 10;
    const std::size_t count = names.size();
    names.resize(std::min(count, shown));
    manifest_.notes.push_back(make_note(
        "functions_without_hook",
        "not measured, because too small to patch or because their code cannot be moved: {} of the "
        "program ({}{}). Their time is self time of their callers",
        count == 1 ? std::string("1 function") : fmt::format("{} functions", count),
        fmt::format("{}", fmt::join(names, ", ")),
        count > shown ? fmt::format(" and {} more", count - shown) : ""));
  }

  void note_wanted(const std::string& name) {
    manifest_.notes.push_back(make_note(
        note_without_hook,
        "uftrace could not patch {} itself: measure it with --backend uprobe, or build the program "
        "with -fpatchable-function-entry=5",
        name));
  }

  void note_end(const UftraceEnd& end) {
    if (end.full) {
      constexpr double bytes_per_mib = 1024.0 * 1024;
      manifest_.notes.push_back(make_note(
          "data_limit",
          "the recording ended after {} s, because its data reached {} MiB: record less with "
          "--filter, --min-latency or --depth, or allow more with --max-data",
          fmt::format("{:.1f}", end.measured_s),
          fmt::format("{:.0f}", static_cast<double>(request_.most_bytes) / bytes_per_mib)));
    }
    if (end.forced) {
      manifest_.notes.push_back(make_note("uftrace_killed",
                                          "uftrace did not end on request and was killed. The end "
                                          "of the recording is missing"));
    }
    if (!end.stopped && WIFEXITED(end.wait_status) && WEXITSTATUS(end.wait_status) != 0) {
      manifest_.notes.push_back(
          make_note("program_failed_under_uftrace",
                    "the program did not succeed: it exited with an error, or a signal ended it"));
    }
  }

  Summary summary_of(const UftraceEnd& end, const uftrace::Folder& recorded) const {
    Summary summary;
    summary.target = target_text(request_);
    summary.asked_s = request_.duration_s;
    summary.traced_s = end.measured_s;
    summary.traced_bytes = recorded.record_bytes();
    summary.threads = static_cast<std::uint64_t>(std::ranges::count_if(
        recorded.threads, [](const uftrace::ThreadFile& thread) { return !thread.path.empty(); }));
    for (const perfdata::Lost& lost : recorded.side_band.lost) {
      summary.lost_records += lost.count;
    }
    if (end.full) {
      summary.advice.emplace_back(
          "record less with --filter, --min-latency or --depth, or allow more with --max-data");
    }
    return summary;
  }

  const Request& request_;
  const std::string& folder_;
  std::string log_;
  const Progress& progress_;
  Manifest& manifest_;
  std::string program_;
  std::vector<std::string> wanted_; // linkage names
};

} // namespace

Result<void> check_uftrace(const Request& request) {
  if (auto checked = check_target_kind(request); !checked) {
    return checked;
  }
  if (const auto uftrace = uftrace_program(); !uftrace) {
    return std::unexpected(uftrace.error());
  }
  const auto files = TargetFiles::of(request);
  if (!files) {
    return std::unexpected(files.error());
  }
  if (const auto hooks = program_hooks(files->files().front().path); !hooks) {
    return std::unexpected(hooks.error());
  }
  return {};
}

Result<Summary> record_uftrace(const Request& request, const std::string& folder,
                               const Progress& progress, Manifest& manifest) {
  return UftraceRecorder(request, folder, progress, manifest).go();
}

} // namespace ptlens::record
