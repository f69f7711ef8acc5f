// The file task.txt of a uftrace folder: processes, threads, program images and libraries, in the
// order of their beginning (utils/data-file.c). Times are CLOCK_MONOTONIC, ns.
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::uftrace {

struct Task { // a thread
  std::uint64_t time_ns = 0;
  std::int32_t pid = -1;
  std::int32_t tid = -1;
};

struct Fork { // a process that another one created
  std::uint64_t time_ns = 0;
  std::int32_t pid = -1;
  std::int32_t parent_pid = -1;
};

struct Session { // a program image: a process has another one after each exec
  std::uint64_t time_ns = 0;
  std::int32_t pid = -1;
  std::string id; // 16 hexadecimal digits: the name of its map
  std::string program;
};

struct Library { // that dlopen loaded
  std::uint64_t time_ns = 0;
  std::int32_t tid = -1;
  std::string session;
  std::uint64_t base = 0;
  std::string path;
};

struct TaskList {
  std::vector<Task> tasks;
  std::vector<Fork> forks;
  std::vector<Session> sessions;
  std::vector<Library> libraries;
};

// Reads the file. Errors: not_found, no_rights; bad_input where a line is not as uftrace writes it,
// or where there is no session or no task.
[[nodiscard]] Result<TaskList> read_task_list(const std::string& path);

} // namespace ptlens::uftrace
