// Lines from the control file, without waiting.
#include "control.hpp"

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace ptlens::ptsim {

Control::Control(int commands, int acknowledgements)
    : commands_(commands), acknowledgements_(acknowledgements) {
  for (const int file : {commands_, acknowledgements_}) {
    if (file >= 0) {
      fcntl(file, F_SETFD, FD_CLOEXEC);
    }
  }
}

std::optional<Control::Command> Control::next() {
  pollfd polled{commands_, POLLIN, 0};
  std::array<char, 256> bytes{};
  while (commands_ >= 0 && poll(&polled, 1, 0) > 0) {
    const ssize_t size = read(commands_, bytes.data(), bytes.size());
    if (size <= 0) {
      commands_ = -1; // nobody can write any more
      break;
    }
    pending_.append(bytes.data(), static_cast<std::size_t>(size));
  }
  const std::size_t end = pending_.find_first_of(std::string_view("\n\0", 2));
  if (end == std::string::npos) {
    return std::nullopt;
  }
  const std::string word = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  if (word == "enable") {
    return Command::enable;
  }
  if (word == "disable") {
    return Command::disable;
  }
  if (word == "snapshot") {
    return Command::snapshot;
  }
  if (word == "stop") {
    return Command::stop;
  }
  if (word == "ping") {
    return Command::ping;
  }
  if (!word.empty()) {
    fmt::print(stderr, "ptsim: unknown control command '{}'\n", word);
  }
  return next();
}

void Control::acknowledge() const {
  constexpr std::string_view answer("ack\n\0", 5); // perf sends the closing zero too
  if (acknowledgements_ >= 0 && write(acknowledgements_, answer.data(), answer.size()) !=
                                    static_cast<ssize_t>(answer.size())) {
    fmt::print(stderr, "ptsim: nobody reads the acknowledgement\n");
  }
}

} // namespace ptlens::ptsim
