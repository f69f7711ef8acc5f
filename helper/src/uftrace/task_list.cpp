#include "uftrace/task_list.hpp"

#include "uftrace/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

namespace ptlens::uftrace {
namespace {

// A process may have 4,194,304 threads (kernel, PID_MAX_LIMIT).
constexpr std::size_t most_entries = std::size_t{1} << 22U;
constexpr std::size_t id_digits = 16;
constexpr std::uint64_t ns_per_s = 1'000'000'000;
constexpr std::uint64_t most_seconds = UINT64_MAX / ns_per_s - 1;

// Reads "timestamp=SECONDS.NANOSECONDS ".
std::optional<std::uint64_t> read_time(Scanner& line) {
  if (!line.skip("timestamp=")) {
    return std::nullopt;
  }
  const auto seconds = line.number<std::uint64_t>();
  if (!seconds || !line.skip(".")) {
    return std::nullopt;
  }
  const auto ns = line.number<std::uint64_t>();
  if (!ns || !line.skip(" ") || *seconds > most_seconds || *ns >= ns_per_s) {
    return std::nullopt;
  }
  return *seconds * ns_per_s + *ns;
}

// Reads "NAME=NUMBER". Numbers of threads are positive.
std::optional<std::int32_t> read_thread(Scanner& line, std::string_view name) {
  if (!line.skip(name)) {
    return std::nullopt;
  }
  const auto number = line.number<std::int32_t>();
  return number && *number > 0 ? number : std::nullopt;
}

// Reads "sid=ID". The id becomes part of a file name.
std::optional<std::string> read_id(Scanner& line) {
  if (!line.skip("sid=")) {
    return std::nullopt;
  }
  const std::string_view id = line.word();
  const bool good = id.size() == id_digits && std::ranges::all_of(id, [](char digit) {
                      return std::isxdigit(static_cast<unsigned char>(digit)) != 0;
                    });
  return good ? std::optional<std::string>(id) : std::nullopt;
}

// Reads "NAME="TEXT"" up to the last quotation mark of the line.
std::optional<std::string> read_quoted(Scanner& line, std::string_view name) {
  if (!line.skip(name) || !line.skip("\"")) {
    return std::nullopt;
  }
  const std::size_t end = line.rest().rfind('"');
  return end == std::string_view::npos ? std::nullopt
                                       : std::optional<std::string>(line.rest().substr(0, end));
}

struct TimedPair {
  std::uint64_t time_ns = 0;
  std::int32_t first = 0;
  std::int32_t second = 0;
};

// Reads "timestamp=TIME FIRST=NUMBER SECOND=NUMBER".
std::optional<TimedPair> read_pair(Scanner& line, std::string_view first, std::string_view second) {
  const auto time = read_time(line);
  const auto number = time ? read_thread(line, first) : std::nullopt;
  const auto other = number && line.skip(" ") ? read_thread(line, second) : std::nullopt;
  return other ? std::optional(TimedPair{*time, *number, *other}) : std::nullopt;
}

bool read_task(Scanner line, TaskList& list) {
  const auto task = read_pair(line, "tid=", "pid=");
  if (task) {
    list.tasks.push_back({.time_ns = task->time_ns, .pid = task->second, .tid = task->first});
  }
  return task.has_value();
}

bool read_fork(Scanner line, TaskList& list) {
  const auto fork = read_pair(line, "pid=", "ppid=");
  if (fork) {
    list.forks.push_back(
        {.time_ns = fork->time_ns, .pid = fork->first, .parent_pid = fork->second});
    list.tasks.push_back({.time_ns = fork->time_ns, .pid = fork->first, .tid = fork->first});
  }
  return fork.has_value();
}

bool read_session(Scanner line, TaskList& list) {
  const auto time = read_time(line);
  const auto pid = time ? read_thread(line, "pid=") : std::nullopt;
  auto id = pid && line.skip(" ") ? read_id(line) : std::nullopt;
  auto program = id && line.skip(" ") ? read_quoted(line, "exename=") : std::nullopt;
  if (program) {
    list.sessions.push_back(
        {.time_ns = *time, .pid = *pid, .id = std::move(*id), .program = std::move(*program)});
  }
  return program.has_value();
}

bool read_library(Scanner line, TaskList& list) {
  const auto time = read_time(line);
  const auto tid = time ? read_thread(line, "tid=") : std::nullopt;
  auto id = tid && line.skip(" ") ? read_id(line) : std::nullopt;
  const auto base = id && line.skip(" base=") ? line.number<std::uint64_t>(16) : std::nullopt;
  auto path = base && line.skip(" ") ? read_quoted(line, "libname=") : std::nullopt;
  if (path) {
    list.libraries.push_back({.time_ns = *time,
                              .tid = *tid,
                              .session = std::move(*id),
                              .base = *base,
                              .path = std::move(*path)});
  }
  return path.has_value();
}

} // namespace

Result<TaskList> read_task_list(const std::string& path) {
  const auto text = read_text(path);
  if (!text) {
    return std::unexpected(text.error());
  }
  TaskList list;
  std::optional<Error> error;
  each_line(*text, [&](std::string_view whole, std::size_t offset) {
    Scanner line(whole);
    const bool good = line.skip("TASK ")   ? read_task(line, list)
                      : line.skip("FORK ") ? read_fork(line, list)
                      : line.skip("SESS ") ? read_session(line, list)
                      : line.skip("DLOP ") ? read_library(line, list)
                                           : true; // of another version
    if (!good) {
      constexpr std::size_t shown = 80;
      error = damaged(path, offset,
                      fmt::format("this line cannot be read: {}", whole.substr(0, shown)));
    } else if (list.tasks.size() + list.sessions.size() + list.libraries.size() > most_entries) {
      error = damaged(path, offset, "the file lists more threads than a machine can have");
    }
    return !error;
  });
  if (error) {
    return std::unexpected(*error);
  }
  if (list.sessions.empty()) {
    return std::unexpected(damaged(path, text->size(), "the file names no program (no SESS line)"));
  }
  if (list.tasks.empty()) {
    return std::unexpected(damaged(path, text->size(), "the file names no thread (no TASK line)"));
  }
  // A thread has one line; a later one for the same number is the same thread after an exec.
  std::ranges::stable_sort(list.tasks, {}, &Task::tid);
  const auto repeated = std::ranges::unique(list.tasks, {}, &Task::tid);
  list.tasks.erase(repeated.begin(), repeated.end());
  return list;
}

} // namespace ptlens::uftrace
