// Lines from the control file, without waiting.
#include "command/control.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace ptlens::ptsim {
namespace {

using What = Command::What;
constexpr std::array<std::pair<std::string_view, What>, 6> words{{{"enable", What::enable},
                                                                  {"disable", What::disable},
                                                                  {"snapshot", What::snapshot},
                                                                  {"stop", What::stop},
                                                                  {"ping", What::ping},
                                                                  {"evlist", What::evlist}}};

Result<void> open_fifo(const std::string& path, int& file) {
  if (path.empty()) {
    return {};
  }
  file = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC); // as perf: nobody needs to be there
  if (file < 0) {
    return std::unexpected(Error{.message = std::strerror(errno), .file = path});
  }
  return {};
}

} // namespace

Result<ControlFiles> parse_control(const std::string& text) {
  ControlFiles files;
  constexpr std::string_view fifo = "fifo:";
  if (std::sscanf(text.c_str(), "fd:%d,%d", &files.commands, &files.acknowledgements) >= 1) {
    return files;
  }
  if (text.starts_with(fifo)) {
    const std::size_t comma = std::min(text.find(',', fifo.size()), text.size());
    files.commands_path = text.substr(fifo.size(), comma - fifo.size());
    files.acknowledgements_path = text.substr(std::min(comma + 1, text.size()));
  }
  if (files.commands_path.empty()) {
    return std::unexpected(
        Error{.kind = Error::Kind::bad_input,
              .message = fmt::format("--control {}: not a pair of files", text),
              .remedy = "give fd:COMMANDS[,ACKNOWLEDGEMENTS] or fifo:PATH[,PATH]"});
  }
  return files;
}

Result<void> Control::open(const ControlFiles& files) {
  commands_ = files.commands;
  acknowledgements_ = files.acknowledgements;
  for (const int file : {commands_, acknowledgements_}) {
    if (file >= 0) {
      fcntl(file, F_SETFD, FD_CLOEXEC);
    }
  }
  if (auto opened = open_fifo(files.commands_path, commands_); !opened) {
    return opened;
  }
  return open_fifo(files.acknowledgements_path, acknowledgements_);
}

void Control::read_all() {
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
}

std::optional<Command> Control::next() {
  read_all();
  while (true) {
    const std::size_t end = pending_.find_first_of(std::string_view("\n\0", 2));
    if (end == std::string::npos) {
      return std::nullopt;
    }
    const std::string line = pending_.substr(0, end);
    pending_.erase(0, end + 1);
    const std::size_t space = std::min(line.find(' '), line.size());
    for (const auto& [word, what] : words) {
      if (word == std::string_view(line).substr(0, space)) {
        return Command{what, line.substr(std::min(space + 1, line.size()))};
      }
    }
    if (!line.empty()) { // perf acknowledges none that it does not know
      fmt::print(stderr, "ptsim: unknown control command '{}'\n", line);
    }
  }
}

void Control::acknowledge() const {
  constexpr std::string_view answer("ack\n\0", 5); // perf sends the closing zero too
  if (acknowledgements_ >= 0 && write(acknowledgements_, answer.data(), answer.size()) !=
                                    static_cast<ssize_t>(answer.size())) {
    fmt::print(stderr, "ptsim: nobody reads the acknowledgement\n");
  }
}

} // namespace ptlens::ptsim
