// The threads of a process, by /proc.
#pragma once

#include "base/error.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace ptlens::ptsim {

// Errors: gone.
[[nodiscard]] Result<pid_t> process_of(pid_t tid);
// The process that traces the thread; 0: none, or the thread has gone.
[[nodiscard]] pid_t tracer_of(pid_t tid);
// The main thread first; empty where the process has gone.
[[nodiscard]] std::vector<pid_t> threads_of(pid_t pid);
// What the kernel calls the thread, /proc/TID/comm; empty where it has gone.
[[nodiscard]] std::string thread_name(pid_t tid);

} // namespace ptlens::ptsim
