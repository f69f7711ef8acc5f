// perf's control files (`--control fd:CTL[,ACK]`, perf-record(1)): one command a line, each
// answered with "ack\n".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ptlens::ptsim {

class Control {
public:
  enum class Command : std::uint8_t { enable, disable, snapshot, stop, ping };

  // -1: no such file.
  Control(int commands, int acknowledgements);

  // The next command that has come; the file's end counts as none.
  [[nodiscard]] std::optional<Command> next();
  void acknowledge() const;
  [[nodiscard]] int file() const { return commands_; }

private:
  int commands_;
  int acknowledgements_;
  std::string pending_;
};

} // namespace ptlens::ptsim
