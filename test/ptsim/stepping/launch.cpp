// fork(2), wait for the tracer, execvp(3).
#include "stepping/launch.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ptlens::ptsim {
namespace {

Error start_error(const char* what) {
  return Error{.message = fmt::format("{}: {}", what, std::strerror(errno))};
}

[[noreturn]] void execute(const std::vector<std::string>& arguments, int go, int failure) {
  char byte = 0;
  while (read(go, &byte, 1) < 0 && errno == EINTR) {
  }
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) {
    pointers.push_back(
        const_cast<char*>(argument.c_str())); // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }
  pointers.push_back(nullptr);
  execvp(pointers.front(), pointers.data());
  const int number = errno;
  const ssize_t written = write(failure, &number, sizeof number);
  _exit(written == sizeof number ? 127 : 126);
}

} // namespace

Result<Tracee> launch(const std::vector<std::string>& arguments,
                      const std::vector<std::string>& environment, const Signals& signals) {
  int go[2] = {-1, -1};
  int failure[2] = {-1, -1};
  if (pipe2(go, O_CLOEXEC) != 0 || pipe2(failure, O_CLOEXEC) != 0) {
    return std::unexpected(start_error("pipe"));
  }
  const pid_t pid = fork();
  if (pid < 0) {
    return std::unexpected(start_error("fork"));
  }
  if (pid == 0) {
    signals.restore_mask();
    for (const std::string& entry : environment) {
      const std::size_t equals = entry.find('=');
      setenv(entry.substr(0, equals).c_str(), entry.substr(equals + 1).c_str(), 0);
    }
    execute(arguments, go[0], failure[1]);
  }
  close(go[0]);
  close(failure[1]);
  auto tracee = Tracee::seize(pid, trace_options(true));
  if (!tracee) {
    kill(pid, SIGKILL);
  }
  const ssize_t written = write(go[1], "", 1);
  close(go[1]);
  std::optional<Stop> stop;
  if (tracee && written == 1) {
    stop = tracee->wait();
    if (stop && stop->kind == StopKind::exiting) {
      tracee->let_end();
    }
  }
  int number = 0;
  const bool replaced = stop && stop->kind == StopKind::replaced;
  const ssize_t failed = replaced ? 0 : read(failure[0], &number, sizeof number);
  close(failure[0]);
  if (!tracee) {
    waitpid(pid, nullptr, 0);
    return std::unexpected(tracee.error());
  }
  if (!replaced) {
    return std::unexpected(
        Error{.kind = number == ENOENT ? Error::Kind::not_found : Error::Kind::failed,
              .message = fmt::format("cannot start the program: {}",
                                     failed > 0 ? std::strerror(number) : "it ended at once"),
              .file = arguments.front()});
  }
  return tracee;
}

} // namespace ptlens::ptsim
