// The debug information of a process's binaries shows whether it was built from a source file.
// System libraries are skipped, results are cached, and one call reads a limited number of bytes of
// new binaries.
#include "record/processes/process_list.hpp"

#include "record/processes/files.hpp"
#include "record/processes/process_files.hpp"
#include "record/processes/process_maps.hpp"
#include "record/processes/process_stat.hpp"
#include "record/processes/rights.hpp"
#include "symbols/binary.hpp"
#include "symbols/elf/build_id.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <dirent.h>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <pwd.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <tuple>
#include <unistd.h>

namespace ptlens::record {
namespace {

constexpr std::uint64_t readable_bytes = std::uint64_t{1} << 30; // of new binaries, per call

// A cache of the binaries that were built from a source file, for the life of the helper. Its key
// is the build-id if there is one, because the same program can be mapped from many paths
// (containers, copies), or else the file.
class SourceIndex {
public:
  // Returns nothing when the file is new and larger than the rest of `budget`.
  std::optional<bool> has_source(const std::string& path, const std::string& source,
                                 std::uint64_t& budget) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
      return false;
    }
    const File file{status.st_dev, status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
    const std::lock_guard guard(lock_);
    const auto known_id = ids_.find(file);
    if (known_id != ids_.end()) {
      if (const auto known = answers_.find({known_id->second, source}); known != answers_.end()) {
        return known->second;
      }
    }
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > budget) {
      return std::nullopt;
    }
    budget -= size;
    const auto binary = symbols::Binary::open(path);
    std::string id = binary ? symbols::build_id_text((*binary)->build_id()) : std::string();
    if (id.empty()) {
      id = fmt::format("{}:{}:{}:{}", status.st_dev, status.st_ino, status.st_mtim.tv_sec,
                       status.st_mtim.tv_nsec);
    }
    constexpr std::size_t most_answers = 4096;
    if (answers_.size() >= most_answers || ids_.size() >= most_answers) {
      answers_.clear();
      ids_.clear();
    }
    ids_[file] = id;
    const auto known = answers_.find({id, source});
    return known != answers_.end()
               ? known->second
               : answers_.emplace(std::pair(id, source), binary && (*binary)->has_source(source))
                     .first->second;
  }

private:
  using File = std::tuple<dev_t, ino_t, std::int64_t, std::int64_t>;
  std::mutex lock_;
  std::map<File, std::string> ids_;
  std::map<std::pair<std::string, std::string>, bool> answers_; // by build-id and source
};

std::string user_name(uid_t user) {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return found->pw_name;
  }
  return std::to_string(user);
}

std::string command_line(std::int32_t pid) {
  std::string text = read_text(fmt::format("/proc/{}/cmdline", pid), 16384).value_or("");
  while (!text.empty() && text.back() == '\0') {
    text.pop_back();
  }
  std::ranges::replace(text, '\0', ' ');
  return text;
}

double uptime_s() {
  const std::string text = read_text("/proc/uptime", 64).value_or("");
  return std::strtod(text.c_str(), nullptr);
}

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds sampled(200);

double share(std::uint64_t ticks, Clock::duration elapsed) {
  const auto ticks_a_second = static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  constexpr double percent = 100;
  return percent * static_cast<double>(ticks) / ticks_a_second /
         std::chrono::duration<double>(elapsed).count();
}

std::string namespace_of(std::int32_t pid) {
  return link_target(fmt::format("/proc/{}/ns/pid", pid));
}

std::vector<std::int32_t> all_pids() {
  std::vector<std::int32_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  if (!folder) {
    return pids;
  }
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::int32_t pid = std::atoi(entry->d_name);
    if (pid > 0) {
      pids.push_back(pid);
    }
  }
  return pids;
}

// Reads the files that the process has mapped, not the files that have their names now.
void look_for_source(Process& process, const std::string& source, std::uint64_t& budget) {
  static SourceIndex index;
  const auto files = mapped_files(process.pid);
  if (!files) {
    return;
  }
  for (const MappedFile& file : *files) {
    if (is_system_file(file.path)) {
      continue;
    }
    const std::string path = reachable_path(process.pid, file, &file == &files->front());
    if (index.has_source(path, source, budget).value_or(false)) {
      process.has_source = true;
      process.rebuilt = file.deleted;
      return;
    }
  }
}

} // namespace

std::vector<Process> processes(const std::string& source) {
  const Rights rights = parse_rights(read_text("/proc/self/status").value_or(""));
  const uid_t we = ::geteuid();
  const double now = uptime_s();
  const auto ticks = static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  const std::string own_namespace = link_target("/proc/self/ns/pid");
  const auto begin = Clock::now();
  std::map<std::int32_t, std::uint64_t> before;
  std::vector<Process> list;
  for (const std::int32_t pid : all_pids()) {
    const auto stat = process_stat(pid);
    struct stat folder{};
    if (!stat || !stat->runs() || pid == ::getpid() ||
        ::stat(fmt::format("/proc/{}", pid).c_str(), &folder) != 0) {
      continue;
    }
    Process process;
    process.pid = pid;
    process.start_time = stat->start_time;
    process.name = stat->name;
    process.command = command_line(pid);
    process.executable = link_target(fmt::format("/proc/{}/exe", pid));
    if (process.executable.empty() && process.command.empty()) {
      continue; // a kernel thread
    }
    process.user = user_name(folder.st_uid);
    process.threads = stat->threads;
    process.container =
        !own_namespace.empty() && namespace_of(pid) != own_namespace && !namespace_of(pid).empty();
    before[pid] = stat->cpu_time;
    process.age_s = std::max(0.0, now - static_cast<double>(stat->start_time) / ticks);
    process.may_attach = rights.root || rights.sys_ptrace || folder.st_uid == we;
    list.push_back(std::move(process));
  }
  std::ranges::sort(list, std::greater(), &Process::start_time);
  if (!source.empty()) {
    std::uint64_t budget = readable_bytes;
    for (Process& process : list) {
      look_for_source(process, source, budget);
    }
    std::ranges::stable_partition(list, &Process::has_source);
  }
  std::this_thread::sleep_until(begin + sampled);
  for (Process& process : list) {
    const auto stat = process_stat(process.pid);
    if (stat && stat->start_time == process.start_time) {
      process.cpu_percent = share(stat->cpu_time - before[process.pid], Clock::now() - begin);
    }
  }
  return list;
}

Result<std::vector<Thread>> threads(std::int32_t pid) {
  const auto times = [pid] {
    std::map<std::int32_t, ProcessStat> all;
    std::error_code failed;
    for (const auto& entry :
         std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), failed)) {
      if (const auto text = read_text(entry.path().string() + "/stat")) {
        if (const auto stat = parse_process_stat(*text)) {
          all.emplace(std::atoi(entry.path().filename().c_str()), *stat);
        }
      }
    }
    return all;
  };
  const auto begin = Clock::now();
  const std::map<std::int32_t, ProcessStat> before = times();
  if (before.empty()) {
    return std::unexpected(process_is_gone(pid));
  }
  std::this_thread::sleep_until(begin + sampled);
  const std::map<std::int32_t, ProcessStat> after = times();
  std::vector<Thread> list;
  for (const auto& [tid, stat] : before) {
    const auto now = after.find(tid);
    if (now != after.end()) {
      list.push_back(
          {.tid = tid,
           .name = now->second.name,
           .cpu_percent = share(now->second.cpu_time - stat.cpu_time, Clock::now() - begin)});
    }
  }
  std::ranges::stable_sort(list, std::greater(), &Thread::cpu_percent);
  return list;
}

} // namespace ptlens::record
