// Runs a program for a test: argument array, no shell, all output.
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char** environ; // NOLINT(readability-redundant-declaration)

namespace ptlens::test {

struct CommandResult {
  int status = -1; // exit status, -1 when it could not be started or was killed
  std::string output;
};

enum class Stderr { shown, discarded };

// Returns the program's stdout. Its stderr goes to the test's own where it is shown. `input` is its
// stdin.
inline CommandResult run_command(const std::vector<std::string>& arguments,
                                 std::string_view input = {}, Stderr errors = Stderr::shown) {
  CommandResult result;
  std::array<int, 2> to = {-1, -1};
  std::array<int, 2> from = {-1, -1};
  if (::pipe2(to.data(), O_CLOEXEC) != 0 || ::pipe2(from.data(), O_CLOEXEC) != 0) {
    return result;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
  if (errors == Stderr::discarded) {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  std::vector<std::string> words = arguments;
  std::vector<char*> pointers;
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  pid_t child = -1;
  const int started =
      ::posix_spawnp(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(to[0]);
  ::close(from[1]);
  if (started == 0) {
    ::fcntl(to[1], F_SETFL, O_NONBLOCK);
    std::array<char, 65536> buffer = {};
    bool reading = true;
    bool writing = true;
    while (reading) {
      if (writing && input.empty()) {
        ::close(to[1]);
        writing = false;
      }
      std::array<pollfd, 2> waits = {
          {{.fd = from[0], .events = POLLIN, .revents = 0},
           {.fd = writing ? to[1] : -1, .events = POLLOUT, .revents = 0}}};
      ::poll(waits.data(), waits.size(), -1);
      if (writing && waits[1].revents != 0) {
        const ssize_t count = ::write(to[1], input.data(), input.size());
        input = count > 0 ? input.substr(static_cast<std::size_t>(count)) : std::string_view{};
      }
      if (waits[0].revents != 0) {
        const ssize_t count = ::read(from[0], buffer.data(), buffer.size());
        reading = count > 0;
        result.output.append(buffer.data(), reading ? static_cast<std::size_t>(count) : 0);
      }
    }
    if (writing) {
      ::close(to[1]);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  } else {
    ::close(to[1]);
  }
  ::close(from[0]);
  return result;
}

// Checks whether the program is on PATH and runs.
inline bool has_command(const std::string& name) {
  return run_command({name, "--version"}).status == 0;
}

} // namespace ptlens::test
