// Runs a program, discards its output, and prints its time and memory as one JSON object. `npm run
// bench` uses it, as Node does not report the peak memory of a child.
//
//   bench_run PROGRAM ARGUMENTS...
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

double seconds(const timeval& time) {
  constexpr double micro = 1e-6;
  return static_cast<double>(time.tv_sec) + micro * static_cast<double>(time.tv_usec);
}

[[noreturn]] void become(char** command) {
  const int nowhere = ::open("/dev/null", O_WRONLY);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  ::execvp(command[0], command);
  ::_exit(127);
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_run PROGRAM ARGUMENTS...\n");
    return 2;
  }
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    become(argv + 1);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child) {
    std::perror("bench_run");
    return 1;
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  constexpr std::int64_t kilobyte = 1024;
  fmt::print("{{\"status\": {}, \"wall\": {}, \"cpu\": {}, \"peak\": {}}}\n",
             WIFEXITED(status) ? WEXITSTATUS(status) : -1, wall.count(),
             seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss * kilobyte);
  return 0;
}
