// perf's control files (`--control fd:CTL[,ACK]` or `fifo:CTL[,ACK]`, perf-record(1)): one command
// a line, each answered with "ack\n".
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace ptlens::ptsim {

struct ControlFiles {
  int commands = -1; // -1: none, or to be opened by path
  int acknowledgements = -1;
  std::string commands_path;
  std::string acknowledgements_path;
};

// Errors: bad_input.
Result<ControlFiles> parse_control(const std::string& text);

struct Command {
  enum class What : std::uint8_t { enable, disable, snapshot, stop, ping, evlist } what;
  std::string argument; // enable, disable: the event's name; empty: all
};

class Control {
public:
  // Opens the files that have a path, neither waiting for who is on the other side. Errors: failed.
  Result<void> open(const ControlFiles& files);

  // The next command that has come; the file's end counts as none.
  [[nodiscard]] std::optional<Command> next();
  void acknowledge() const;
  [[nodiscard]] int file() const { return commands_; }

private:
  void read_all();

  int commands_ = -1;
  int acknowledgements_ = -1;
  std::string pending_;
};

} // namespace ptlens::ptsim
