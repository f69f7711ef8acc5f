// Between fork and exec the child makes only calls that are safe after a fork in a threaded program
// (signal-safety(7)). A failed exec reports its errno through a pipe, which a successful exec
// closes.
#include "record/processes/child.hpp"

#include "record/processes/pipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace ptlens::record {
namespace {

constexpr std::size_t kept_output = std::size_t{64} << 10; // bytes, half from each end

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (std::string& text : strings) {
    result.push_back(text.data());
  }
  result.push_back(nullptr);
  return result;
}

std::string_view variable_name(std::string_view definition) {
  return definition.substr(0, definition.find('='));
}

std::vector<std::string> merged_environment(const std::vector<std::string>& added) {
  std::vector<std::string> merged;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view name = variable_name(*variable);
    if (std::ranges::none_of(added, [name](const std::string& definition) {
          return variable_name(definition) == name;
        })) {
      merged.emplace_back(*variable);
    }
  }
  merged.insert(merged.end(), added.begin(), added.end());
  return merged;
}

// The data that the child needs. It is complete before the fork.
struct Launch {
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const char* working_directory = nullptr;
  const int* inherited = nullptr;
  std::size_t inherited_count = 0;
  int input = -1;
  int output = -1;
  int report = -1;
  int hold = -1; // the child waits until its other end is closed; -1: it does not wait
  pid_t parent = -1;
};

[[noreturn]] void fail(const Launch& launch) {
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = ::write(launch.report, &reason, sizeof reason);
  ::_exit(127);
}

[[noreturn]] void run_child(const Launch& launch) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != launch.parent) {
    ::_exit(127);
  }
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD, SIGHUP, SIGQUIT}) {
    ::signal(number, SIG_DFL);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::dup2(launch.input, 0) < 0 || ::dup2(launch.output, 1) < 0 || ::dup2(launch.output, 2) < 0) {
    fail(launch);
  }
  ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  for (std::size_t index = 0; index < launch.inherited_count; ++index) {
    ::fcntl(launch.inherited[index], F_SETFD, 0);
  }
  if (launch.working_directory != nullptr && ::chdir(launch.working_directory) != 0) {
    fail(launch);
  }
  if (launch.hold >= 0) {
    char byte = 0;
    while (::read(launch.hold, &byte, 1) < 0 && errno == EINTR) {
    }
    if (byte == 0) {
      ::_exit(127); // the helper ended
    }
  }
  ::execve(launch.arguments[0], launch.arguments, launch.environment);
  fail(launch);
}

Error start_error(const std::string& program, const std::string& working_directory, int reason) {
  Error error{.message = fmt::format("the program cannot be started: {}", std::strerror(reason)),
              .file = program};
  if (reason == ENOENT) {
    error.kind = Error::Kind::not_found;
    error.remedy =
        working_directory.empty()
            ? "check the path"
            : fmt::format("check the path and the working directory {}", working_directory);
  } else if (reason == EACCES || reason == EPERM) {
    error.kind = Error::Kind::no_rights;
    error.remedy = "check the file's permissions";
  }
  return error;
}

} // namespace

Result<Child> Child::start(const ChildOptions& options) {
  if (options.arguments.empty()) {
    return std::unexpected(
        Error{.kind = Error::Kind::bad_input, .message = "the command is empty"});
  }
  auto output = make_pipe();
  if (!output) {
    return std::unexpected(output.error());
  }
  auto report = make_pipe();
  if (!report) {
    return std::unexpected(report.error());
  }
  auto hold = make_pipe();
  if (!hold) {
    return std::unexpected(hold.error());
  }
  const Descriptor input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!input.valid()) {
    return std::unexpected(start_error("/dev/null", "", errno));
  }
  std::vector<std::string> arguments = options.arguments;
  std::vector<std::string> environment = merged_environment(options.environment);
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> environment_pointers = pointers(environment);
  const Launch launch{.arguments = argument_pointers.data(),
                      .environment = environment_pointers.data(),
                      .working_directory = options.working_directory.empty()
                                               ? nullptr
                                               : options.working_directory.c_str(),
                      .inherited = options.inherited.data(),
                      .inherited_count = options.inherited.size(),
                      .input = input.get(),
                      .output = output->write_end.get(),
                      .report = report->write_end.get(),
                      .hold = options.held ? hold->read_end.get() : -1,
                      .parent = ::getpid()};
  const pid_t pid = ::fork();
  if (pid == 0) {
    run_child(launch);
  }
  if (pid < 0) {
    return std::unexpected(
        Error{.message = fmt::format("a new process cannot be created: {}", std::strerror(errno))});
  }
  ::setpgid(pid, pid); // the child does the same; the first one succeeds
  output->write_end.reset();
  report->write_end.reset();
  Child child(pid, std::move(output->read_end));
  ::fcntl(child.output_.get(), F_SETFL, O_NONBLOCK);
  child.report_ = std::move(report->read_end);
  child.program_ = options.arguments.front();
  child.working_directory_ = options.working_directory;
  if (options.held) {
    child.hold_ = std::move(hold->write_end);
  } else if (auto started = child.await_start(); !started) {
    return std::unexpected(started.error());
  }
  return child;
}

Result<void> Child::release() {
  [[maybe_unused]] const ssize_t written = ::write(hold_.get(), "x", 1);
  hold_.reset();
  return await_start();
}

Result<void> Child::await_start() {
  int reason = 0;
  ssize_t got = -1;
  do {
    got = ::read(report_.get(), &reason, sizeof reason);
  } while (got < 0 && errno == EINTR);
  report_.reset();
  if (got == sizeof reason) {
    return std::unexpected(start_error(program_, working_directory_, reason));
  }
  return {};
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), output_(std::move(other.output_)),
      report_(std::move(other.report_)), hold_(std::move(other.hold_)),
      program_(std::move(other.program_)), working_directory_(std::move(other.working_directory_)),
      text_(std::move(other.text_)), status_(other.status_) {}

Child& Child::operator=(Child&& other) noexcept {
  if (this != &other) {
    kill();
    pid_ = std::exchange(other.pid_, -1);
    output_ = std::move(other.output_);
    report_ = std::move(other.report_);
    hold_ = std::move(other.hold_);
    program_ = std::move(other.program_);
    working_directory_ = std::move(other.working_directory_);
    text_ = std::move(other.text_);
    status_ = other.status_;
  }
  return *this;
}

Child::~Child() {
  kill();
}

void Child::read_output() {
  std::array<char, 8192> chunk{};
  while (output_.valid()) {
    const ssize_t got = ::read(output_.get(), chunk.data(), chunk.size());
    if (got > 0) {
      text_.append(chunk.data(), static_cast<std::size_t>(got));
      if (text_.size() > kept_output) {
        text_.erase(kept_output / 2, text_.size() - kept_output);
      }
      continue;
    }
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got == 0) {
      output_.reset();
    }
    return;
  }
}

std::string Child::last_line() const {
  const std::size_t end = text_.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) {
    return {};
  }
  const std::size_t before = text_.find_last_of('\n', end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text_.substr(begin, end + 1 - begin);
}

std::optional<int> Child::ended() {
  if (status_ || pid_ < 0) {
    return status_;
  }
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG) != 0 ||
      info.si_pid != pid_) {
    return std::nullopt;
  }
  read_output();
  ::kill(-pid_, SIGKILL); // before reaping, while no other group can have this number
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  status_ = status;
  return status_;
}

std::optional<int> Child::wait(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!ended() && std::chrono::steady_clock::now() < deadline) {
    constexpr int pause_ms = 10;
    pollfd waited{.fd = output_.get(), .events = POLLIN, .revents = 0};
    ::poll(&waited, 1, pause_ms);
    read_output();
  }
  return ended();
}

void Child::signal(int number) const {
  if (!status_ && pid_ > 0) {
    ::kill(pid_, number);
  }
}

void Child::kill() {
  if (pid_ > 0 && !status_) {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    status_ = status;
  }
}

Result<std::string> run(const std::vector<std::string>& arguments,
                        std::chrono::milliseconds limit) {
  auto child = Child::start(ChildOptions{
      .arguments = arguments, .working_directory = {}, .environment = {}, .inherited = {}});
  if (!child) {
    return std::unexpected(child.error());
  }
  if (!child->wait(limit)) {
    return std::unexpected(
        Error{.message = fmt::format("the program did not end within {} ms", limit.count()),
              .file = arguments.front()});
  }
  return child->output();
}

} // namespace ptlens::record
