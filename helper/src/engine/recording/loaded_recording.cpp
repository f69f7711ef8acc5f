// Opens a recording by path, and describes it as far as the description does not depend on the
// backend.
#include "engine/recording/loaded_recording.hpp"

#include "base/parallel.hpp"
#include "engine/recording/kernel_copy.hpp"
#include "symbols/elf/build_id.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sys/utsname.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace ptlens::engine {

namespace {

std::string own_hostname() {
  utsname system{};
  return ::uname(&system) == 0 ? system.nodename : "";
}

Result<void> check_process(const perfdata::Recording& recording, std::optional<std::int32_t> pid) {
  std::map<std::int32_t, std::string> processes; // names by pid
  for (const perfdata::ThreadName& name : recording.thread_names()) {
    if (name.pid > 0 && name.pid == name.tid) {
      processes[name.pid] = name.name;
    }
  }
  for (const perfdata::Mapping& mapping : recording.mappings()) {
    if (mapping.pid > 0) {
      processes.try_emplace(mapping.pid);
    }
  }
  std::vector<perfdata::ThreadStart> forks(recording.thread_starts().begin(),
                                           recording.thread_starts().end());
  std::ranges::stable_sort(forks, {}, &perfdata::ThreadStart::time_ns);
  for (const perfdata::ThreadStart& start : forks) {
    if (const auto parent = processes.find(start.parent_pid); parent != processes.end()) {
      processes.try_emplace(start.pid, parent->second);
    }
  }
  if (!pid || processes.contains(*pid)) {
    return {};
  }
  constexpr std::size_t shown = 8;
  std::string there;
  for (const auto& [each, name] : processes) {
    if (std::ranges::count(there, ',') + 1 == shown) {
      there += ", ...";
      break;
    }
    there +=
        fmt::format("{}{}{}{}", there.empty() ? "" : ", ", each, name.empty() ? "" : " ", name);
  }
  return std::unexpected(Error{.kind = Error::Kind::not_found,
                               .message = fmt::format("the recording contains no process {}", *pid),
                               .file = recording.path(),
                               .remedy = there.empty() ? "omit --pid" : "it contains " + there});
}

} // namespace

namespace {

// Returns the folder that uftrace wrote: the path itself, or one in a folder that `ptlens record`
// wrote.
std::optional<std::string> uftrace_folder(const std::string& path) {
  std::filesystem::path whole(path);
  if (!whole.has_filename()) {
    whole = whole.parent_path(); // "uftrace.data/"
  }
  const std::filesystem::path inside = whole / record::uftrace_name;
  std::error_code ignored;
  for (const auto& candidate : {whole, inside}) {
    if (std::filesystem::is_directory(candidate, ignored) &&
        uftrace::is_folder(candidate.string())) {
      return candidate.string();
    }
  }
  return std::nullopt;
}

struct Opened {
  perfdata::Recording recording;
  std::optional<uftrace::Folder> hooked = {};
};

Result<Opened> open_data(const std::string& path, const std::string& file) {
  if (uftrace_folder(path)) {
    auto folder = uftrace::open_folder(file);
    if (!folder) {
      return std::unexpected(folder.error());
    }
    auto recording = perfdata::Recording::from(file, std::move(folder->side_band));
    return Opened{std::move(recording), std::move(*folder)};
  }
  auto recording = perfdata::Recording::open(file);
  if (!recording) {
    return std::unexpected(recording.error());
  }
  return Opened{std::move(*recording)};
}

} // namespace

std::string data_file(const std::string& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return folder;
  }
  if (const auto hooked = uftrace_folder(folder)) {
    return *hooked;
  }
  const std::filesystem::path own = std::filesystem::path(folder) / "perf.data";
  const std::filesystem::path perf_data = std::filesystem::path(folder) / "data";
  if (std::filesystem::is_directory(own, ignored)) {
    return (own / "data").string();
  }
  const bool only_perfs =
      !std::filesystem::exists(own, ignored) && std::filesystem::exists(perf_data, ignored);
  return (only_perfs ? perf_data : own).string();
}

Result<LoadedRecording> load(const std::string& path, const OpenOptions& options) {
  const std::string file = data_file(path);
  std::optional<record::Manifest> manifest;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    if (std::filesystem::exists(std::filesystem::path(path) / record::manifest_name, ignored)) {
      auto read = record::read_manifest(path);
      if (!read) {
        return std::unexpected(read.error());
      }
      manifest = std::move(*read);
    }
  }
  auto opened = open_data(path, file);
  if (!opened) {
    return std::unexpected(opened.error());
  }
  perfdata::Recording* const recording = &opened->recording;
  if (auto checked = check_process(*recording, options.pid); !checked) {
    return std::unexpected(checked.error());
  }
  const std::string folder = std::filesystem::is_directory(path, ignored)
                                 ? path
                                 : std::filesystem::path(file).parent_path().string();
  auto store = std::make_unique<symbols::BinaryFinder>(symbols::BinaryFinder::Options{
      options.symfs, folder, recording->hostname() == own_hostname(),
      manifest ? manifest->private_files : std::vector<std::string>(), options.read});
  auto kernel = open_kernel(*recording, file, options);
  if (!kernel) {
    return std::unexpected(kernel.error());
  }
  auto spaces = std::make_unique<symbols::AddressSpaces>(*recording, *store, kernel->code);
  auto context_switches = std::make_unique<perfdata::ContextSwitches>(
      recording->switches(), recording->thread_names(), recording->switches_recorded());
  return LoadedRecording{path,
                         std::move(*recording),
                         std::move(manifest),
                         std::move(store),
                         std::move(kernel->code),
                         std::move(kernel->note),
                         std::move(spaces),
                         std::move(context_switches),
                         options.pid,
                         {.decoder = options.decoder,
                          .workers = options.workers != 0 ? options.workers : cores(),
                          .segment_bytes = options.segment_bytes,
                          .memory_bytes = memory_bound(options) / 2,
                          .ahead = options.ahead.get()},
                         std::move(opened->hooked)};
}

std::uint64_t memory_bound(const OpenOptions& options) {
  constexpr std::uint64_t least = 16U << 20U;
  constexpr std::uint64_t share = 4;
  const auto pages = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
  const auto page = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PAGESIZE)));
  return std::max(least, options.memory_bytes != 0 ? options.memory_bytes : pages * page / share);
}

stacks::ThreadInfo LoadedRecording::thread(std::int32_t pid, std::int32_t tid) const {
  stacks::ThreadInfo info;
  info.pid = pid > 0 ? pid : tid;
  info.tid = tid;
  for (const perfdata::ThreadName& name : recording.thread_names()) {
    if (name.tid == tid) {
      info.comm = name.name;
    }
  }
  if (info.comm.empty()) {
    // A new thread inherits the name of the thread that created it.
    for (const perfdata::ThreadName& name : recording.thread_names()) {
      if (name.pid == info.pid) {
        info.comm = name.name;
      }
    }
  }
  return info;
}

bool LoadedRecording::exited(const stacks::ThreadInfo& thread, std::uint64_t ran_at) const {
  // A thread that calls execve continues under its process's id, and no record reports the end of
  // its own id.
  const auto replaced = [&](const perfdata::ThreadName& name) {
    return name.exec && name.pid == thread.pid && thread.tid != thread.pid &&
           name.time_ns >= ran_at;
  };
  return std::ranges::any_of(
             recording.thread_exits(),
             [&](const perfdata::ThreadExit& exit) { return exit.tid == thread.tid; }) ||
         std::ranges::any_of(recording.thread_names(), replaced);
}

measure::RecordingInfo describe(const LoadedRecording& loaded) {
  measure::RecordingInfo info;
  info.path = loaded.path;
  info.trace_bytes = loaded.recording.trace_bytes();
  info.off_cpu_known = loaded.context_switches->known();
  for (const perfdata::Lost& lost : loaded.recording.lost()) {
    info.lost_records += lost.count;
  }
  if (loaded.manifest) {
    for (const Note& note : loaded.manifest->notes) {
      info.notes.push_back(note);
    }
  }
  if (loaded.kernel_note) {
    info.notes.push_back(*loaded.kernel_note);
  }
  if (!info.off_cpu_known) {
    info.notes.push_back(make_note("no_switch_records",
                                   "the recording has no context-switch records, so that off-CPU "
                                   "time is unknown: record with --switch-events"));
  }
  std::map<std::string, std::string> build_ids;
  for (const perfdata::BuildIdEntry& entry : loaded.recording.build_ids()) {
    build_ids[entry.path] = symbols::build_id_text(entry.build_id);
  }
  std::set<std::string> named;
  const auto add = [&](const std::string& path, std::string build_id, const std::string& reason) {
    if (build_id.empty()) {
      if (const auto known = build_ids.find(path); known != build_ids.end()) {
        build_id = known->second;
      }
    }
    if (named.insert(path).second) {
      info.missing.push_back({path, build_id, reason});
    }
  };
  // The kernel's binaries come last: there are many of them, and their absence matters less.
  const auto of_kernel = [](const std::string& path) {
    return path.starts_with("[kernel") || path.starts_with("[guest") || path.ends_with(".ko");
  };
  constexpr std::string_view kernel_reason =
      "the kernel's code is not available, so that its time counts as outside user code";
  for (const bool kernel : {false, true}) {
    for (const symbols::MissingBinary& missing : loaded.store->missing()) {
      if (of_kernel(missing.path) == kernel && !(kernel && loaded.kernel)) {
        add(missing.path, missing.build_id, kernel ? std::string(kernel_reason) : missing.reason);
      }
    }
  }
  const bool kernel_traced =
      std::ranges::any_of(loaded.recording.attributes(), [&](const perfdata::Attribute& attribute) {
        return loaded.recording.intel_pt() &&
               attribute.type == loaded.recording.intel_pt()->pmu_type && !attribute.exclude_kernel;
      });
  if (kernel_traced && !loaded.kernel) {
    for (const perfdata::Mapping& mapping : loaded.recording.mappings()) {
      if (mapping.pid == -1 && build_ids.contains(mapping.path)) {
        add(mapping.path, "", std::string(kernel_reason));
      }
    }
    if (build_ids.contains("[kernel.kallsyms]")) {
      add("[kernel.kallsyms]", "", std::string(kernel_reason));
    }
    info.notes.push_back(
        make_note("kernel_code_missing", "the kernel was traced, but {}", kernel_reason));
  }
  return info;
}

void sum_up(measure::Measurement& measurement, std::vector<stacks::Gap> gaps) {
  measure::RecordingInfo& info = measurement.recording;
  std::uint64_t first = UINT64_MAX;
  std::uint64_t last = 0;
  for (const stacks::ThreadInfo& thread : measurement.threads) {
    first = std::min(first, thread.first_ns);
    last = std::max(last, thread.last_ns);
    info.gaps += thread.gaps;
  }
  info.trace_ns = last > first ? last - first : 0;
  std::ranges::sort(gaps);
  constexpr std::uint64_t most_intervals = 1000; // so many can be drawn apart
  const std::uint64_t apart = info.trace_ns / most_intervals;
  for (const auto& [begin, end] : gaps) {
    if (info.lost.empty() || begin > info.lost.back().end + apart) {
      info.lost.push_back({.begin = begin, .end = begin});
    }
    measure::LostInterval& last = info.lost.back();
    const std::uint64_t from = std::max(begin, last.end);
    const std::uint64_t more = end > from ? end - from : 0;
    last.end = std::max(last.end, end);
    last.lost_ns += more;
    info.lost_ns += more;
  }
}

std::string LoadedRecording::address_filter() const {
  const auto& info = recording.intel_pt();
  return info && info->filter.starts_with("filter ") ? info->filter : std::string();
}

} // namespace ptlens::engine
