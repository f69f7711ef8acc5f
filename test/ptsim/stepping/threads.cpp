// /proc/TID/status, /proc/PID/task, /proc/TID/comm.
#include "stepping/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

namespace ptlens::ptsim {

namespace {

// A field of /proc/TID/status.
std::optional<pid_t> field(pid_t tid, std::string_view name) {
  std::ifstream status(fmt::format("/proc/{}/status", tid));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) {
      return static_cast<pid_t>(std::strtol(line.c_str() + name.size(), nullptr, 10));
    }
  }
  return std::nullopt;
}

} // namespace

Result<pid_t> process_of(pid_t tid) {
  const auto process = field(tid, "Tgid:");
  if (!process) {
    return std::unexpected(
        Error{.kind = Error::Kind::gone, .message = fmt::format("there is no thread {}", tid)});
  }
  return *process;
}

pid_t tracer_of(pid_t tid) {
  return field(tid, "TracerPid:").value_or(0);
}

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> threads;
  std::error_code failed;
  std::filesystem::directory_iterator tasks(fmt::format("/proc/{}/task", pid), failed);
  const std::filesystem::directory_iterator end;
  while (!failed && tasks != end) {
    threads.push_back(static_cast<pid_t>(std::atoi(tasks->path().filename().c_str())));
    tasks.increment(failed);
  }
  std::ranges::sort(threads, {}, [pid](pid_t tid) { return std::pair(tid != pid, tid); });
  return threads;
}

std::string thread_name(pid_t tid) {
  std::ifstream file(fmt::format("/proc/{}/comm", tid));
  std::string name;
  std::getline(file, name);
  return name;
}

} // namespace ptlens::ptsim
