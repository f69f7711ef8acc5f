// The channels are socket pairs, because writing to a socket that perf has closed can return an
// error instead of raising SIGPIPE.
#include "record/perf/perf_control.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace ptlens::record {
namespace {

Result<void> connect(Descriptor& ours, Descriptor& theirs) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return std::unexpected(Error{
        .message = fmt::format("a channel to perf cannot be created: {}", std::strerror(errno)),
        .remedy = "close programs that have many open files"});
  }
  ours = Descriptor(ends[0]);
  theirs = Descriptor(ends[1]);
  return {};
}

} // namespace

Result<PerfControl> PerfControl::make() {
  PerfControl control;
  if (auto made = connect(control.command_, control.command_child_); !made) {
    return std::unexpected(made.error());
  }
  if (auto made = connect(control.answer_, control.answer_child_); !made) {
    return std::unexpected(made.error());
  }
  return control;
}

std::string PerfControl::argument() const {
  return fmt::format("fd:{},{}", command_child_.get(), answer_child_.get());
}

void PerfControl::close_child_ends() {
  command_child_.reset();
  answer_child_.reset();
}

bool PerfControl::send(std::string_view command) {
  const std::string line = fmt::format("{}\n", command);
  return ::send(command_.get(), line.data(), line.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(line.size());
}

PerfControl::Answer PerfControl::answer() {
  std::array<char, 256> text{};
  const ssize_t size = ::recv(answer_.get(), text.data(), text.size(), MSG_DONTWAIT);
  if (size > 0) {
    const std::string_view received(text.data(), static_cast<std::size_t>(size));
    return received.find("ack") != std::string_view::npos ? Answer::acknowledged : Answer::none;
  }
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    return Answer::none;
  }
  return Answer::closed;
}

} // namespace ptlens::record
