#include "uftrace/folder.hpp"

#include "uftrace/scheduling.hpp"
#include "uftrace/session_map.hpp"
#include "uftrace/task_list.hpp"
#include "uftrace/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace ptlens::uftrace {
namespace {

namespace fs = std::filesystem;

std::string joined(const std::string& folder, const std::string& name) {
  return (fs::path(folder) / name).string();
}

// Returns the number between the prefix and the suffix of a file's name.
std::optional<std::int32_t> number_in(std::string_view name, std::string_view prefix,
                                      std::string_view suffix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix) ||
      name.size() <= prefix.size() + suffix.size()) {
    return std::nullopt;
  }
  const std::string_view digits =
      name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  std::int32_t number = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = failed == std::errc{} && end == digits.data() + digits.size();
  return whole && number >= 0 ? std::optional(number) : std::nullopt;
}

// Calls `use` with the name of each regular file of the folder, in alphabetical order.
template <class Use>
void each_file(const std::string& folder, const Use& use) {
  std::vector<std::string> names;
  std::error_code ended;
  for (fs::directory_iterator at(folder, ended), end; !ended && at != end; at.increment(ended)) {
    std::error_code failed;
    if (at->is_regular_file(failed)) {
      names.push_back(at->path().filename().string());
    }
  }
  std::ranges::sort(names);
  for (const std::string& name : names) {
    use(name);
  }
}

Result<void> read_all_scheduling(Folder& folder) {
  Result<void> result;
  each_file(folder.path, [&](const std::string& name) {
    if (const auto cpu = number_in(name, "perf-cpu", ".dat"); cpu && result) {
      result = read_scheduling(joined(folder.path, name), *cpu, folder.side_band);
    }
  });
  return result;
}

Result<void> add_sessions(const TaskList& tasks, Folder& folder) {
  perfdata::SideBand& side_band = folder.side_band;
  std::set<std::int32_t> begun; // processes that have an image: a forked one has its parent's
  for (const Fork& fork : tasks.forks) {
    begun.insert(fork.pid);
  }
  std::vector<Session> sessions = tasks.sessions;
  std::ranges::stable_sort(sessions, {}, &Session::time_ns);
  std::map<std::string, std::int32_t> processes; // by session
  for (const Session& session : sessions) {
    const auto modules =
        read_session_map(joined(folder.path, fmt::format("sid-{}.map", session.id)));
    if (!modules) {
      return std::unexpected(modules.error());
    }
    processes[session.id] = session.pid;
    const bool first = begun.insert(session.pid).second;
    side_band.thread_names.push_back({.time_ns = session.time_ns,
                                      .pid = session.pid,
                                      .tid = session.pid,
                                      .name = fs::path(session.program).filename().string(),
                                      .exec = !first});
    for (const Module& module : *modules) {
      side_band.mappings.push_back({.time_ns = session.time_ns,
                                    .pid = session.pid,
                                    .tid = session.pid,
                                    .start = module.start,
                                    .length = module.end - module.start,
                                    .file_offset = 0,
                                    .path = module.path,
                                    .build_id = module.build_id});
    }
  }
  for (const Library& library : tasks.libraries) {
    // The length is not recorded: that of the file, which is smaller than the mapped range only by
    // memory without contents.
    std::error_code failed;
    const std::uintmax_t size = fs::file_size(library.path, failed);
    const auto process = processes.find(library.session);
    if (!failed && size != 0 && process != processes.end() && library.base <= UINT64_MAX - size) {
      side_band.mappings.push_back({.time_ns = library.time_ns,
                                    .pid = process->second,
                                    .tid = library.tid,
                                    .start = library.base,
                                    .length = size,
                                    .file_offset = 0,
                                    .path = library.path,
                                    .build_id = {}});
    }
  }
  for (const Fork& fork : tasks.forks) {
    side_band.thread_starts.push_back({.time_ns = fork.time_ns,
                                       .pid = fork.pid,
                                       .tid = fork.pid,
                                       .parent_pid = fork.parent_pid,
                                       .parent_tid = fork.parent_pid});
  }
  return {};
}

Result<void> find_threads(const TaskList& tasks, Folder& folder) {
  std::uint64_t records = 0;
  for (const Task& task : tasks.tasks) {
    ThreadFile thread{.pid = task.pid, .tid = task.tid, .start_ns = task.time_ns};
    const std::string path = joined(folder.path, fmt::format("{}.dat", task.tid));
    std::error_code failed;
    const std::uintmax_t size = fs::file_size(path, failed);
    if (!failed && size != 0) {
      thread.path = path;
      thread.bytes = size;
      records += size;
    }
    folder.threads.push_back(std::move(thread));
  }
  std::ranges::sort(folder.threads, {}, &ThreadFile::tid);
  if (records == 0) {
    Error error{.kind = Error::Kind::bad_input,
                .message = "no thread has records (TID.dat): no function of the program was traced",
                .file = folder.path,
                .remedy = "record with `uftrace record -P . PROGRAM`, or a program that was built "
                          "with -pg or -finstrument-functions"};
    return std::unexpected(std::move(error));
  }
  return {};
}

} // namespace

bool is_folder(const std::string& path) {
  std::error_code failed;
  const fs::path folder(path);
  if (!fs::is_directory(folder, failed) || fs::exists(folder / "manifest.json", failed)) {
    return false;
  }
  return fs::exists(folder / "task.txt", failed) ||
         (fs::exists(folder / "info", failed) && !fs::exists(folder / "perf.data", failed)) ||
         folder.filename() == "uftrace.data";
}

std::uint64_t Folder::record_bytes() const {
  std::uint64_t sum = 0;
  for (const ThreadFile& thread : threads) {
    sum += thread.bytes;
  }
  return sum;
}

SymbolFile Folder::symbols_of(const std::string& module,
                              const std::vector<std::uint8_t>& build_id) const {
  SymbolFile found;
  const std::string stem = fs::path(module).filename().string();
  each_file(path, [&](const std::string& name) {
    // Modules of the same name have a suffix: "lib.so.sym" and "lib.so-1a2b.sym".
    if (!name.starts_with(stem) || !name.ends_with(".sym")) {
      return;
    }
    auto file = read_symbol_file(joined(path, name));
    if (!file || file->symbols.empty()) {
      return;
    }
    const bool same_path = file->module == module || file->module.empty();
    const bool same_id = build_id.empty() || file->build_id.empty() || file->build_id == build_id;
    if (same_path && same_id) {
      found = std::move(*file);
    }
  });
  return found;
}

Result<Folder> open_folder(const std::string& path) {
  Folder folder;
  folder.path = path;
  auto info = read_info(joined(path, "info"));
  if (!info) {
    return std::unexpected(info.error());
  }
  folder.info = std::move(*info);
  auto tasks = read_task_list(joined(path, "task.txt"));
  if (!tasks) {
    return std::unexpected(tasks.error());
  }
  folder.side_band.hostname = folder.info.hostname;
  Result<void> step = add_sessions(*tasks, folder);
  step = step ? read_all_scheduling(folder) : step;
  step = step ? find_threads(*tasks, folder) : step;
  if (!step) {
    return std::unexpected(step.error());
  }
  folder.side_band.order_by_time();
  return folder;
}

} // namespace ptlens::uftrace
