// The loop between file descriptors and a connection. It waits for bytes, for a signal to end, and
// for the end of the client's process.
#include "server/connection/serve.hpp"

#include "base/file_descriptor.hpp"
#include "server/connection/connection.hpp"
#include "server/rpc/framing.hpp"
#include "server/rpc/output.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <poll.h>
#include <string_view>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace ptlens::server {

namespace {

// Signal handlers write to this descriptor. It is never closed, because a handler on another thread
// may still write to it.
std::atomic<int> wake_fd = -1;

int fresh_wake_fd() {
  if (wake_fd < 0) {
    wake_fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  }
  std::uint64_t earlier = 0;
  static_cast<void>(!::read(wake_fd, &earlier, sizeof earlier));
  return wake_fd;
}

void wake(int signal) {
  const int saved = errno;
  if (signal != SIGPIPE) {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(wake_fd.load(), &one, sizeof one));
  }
  errno = saved;
}

// Catches the signals that ask the process to end, and SIGPIPE. Measured programs do not inherit
// handlers, but they would inherit ignored signals.
class Signals {
public:
  Signals() {
    struct sigaction action{};
    action.sa_handler = wake;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    for (std::size_t index = 0; index < numbers.size(); ++index) {
      ::sigaction(numbers[index], &action, &previous_[index]);
    }
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() {
    for (std::size_t index = 0; index < numbers.size(); ++index) {
      ::sigaction(numbers[index], &previous_[index], nullptr);
    }
  }

private:
  static constexpr std::array<int, 4> numbers{SIGTERM, SIGINT, SIGHUP, SIGPIPE};
  std::array<struct sigaction, 4> previous_{};
};

// Returns a descriptor that is readable once the process has ended; -1 where that is unsupported.
int process_descriptor(std::int32_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

} // namespace

int serve(int input_fd, int output_fd, const std::string& version, Host host) {
  const int wake_up = fresh_wake_fd();
  const Signals signals;
  Output output(output_fd);
  Connection connection(std::move(host), output, version);
  FrameReader reader(
      [&](const std::string& body) {
        if (!connection.ended()) {
          connection.receive(body);
        }
      },
      [&](const std::string& what) {
        fmt::print(stderr, "ptlens serve: {}\n", what);
        connection.bad_frame(what);
      });
  FileDescriptor client;
  bool watches_client = false;
  std::array<char, 65536> bytes{};
  while (!connection.ended()) {
    std::array<pollfd, 4> events{pollfd{.fd = input_fd, .events = POLLIN, .revents = 0},
                                 pollfd{.fd = wake_up, .events = POLLIN, .revents = 0},
                                 pollfd{.fd = client.get(), .events = POLLIN, .revents = 0},
                                 pollfd{.fd = output_fd, .events = 0, .revents = 0}};
    if (::poll(events.data(), events.size(), -1) < 0) {
      if (errno == EINTR) {
        continue;
      }
      break;
    }
    const bool asked_to_end = events[1].revents != 0;
    const bool nobody_reads = events[3].revents != 0;
    if (asked_to_end || nobody_reads) {
      break;
    }
    if (events[0].revents != 0) {
      const ssize_t count = ::read(input_fd, bytes.data(), bytes.size());
      if (count > 0) {
        reader.feed(std::string_view(bytes.data(), static_cast<std::size_t>(count)));
      } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
        if (reader.inside_message()) {
          fmt::print(stderr, "ptlens serve: the input ended inside a message\n");
        }
        break;
      }
    } else if (events[2].revents != 0) {
      break;
    }
    if (!watches_client && connection.client()) {
      watches_client = true;
      client = FileDescriptor(process_descriptor(*connection.client()));
    }
  }
  connection.stop();
  return connection.status();
}

} // namespace ptlens::server
