// Every taken branch of the stepped machine, one line each: "tid from to kind", tab-separated,
// addresses in hex, 0 where control went to or came from the kernel. Kinds: call return jump cond
// indirect syscall interrupt on off gap.
#pragma once

#include "instruction.hpp"

#include <cstdint>
#include <ostream>
#include <string_view>
#include <sys/types.h>

namespace ptlens::ptsim {

class BranchLog {
public:
  // `out` is not owned; null: nothing is written.
  BranchLog(std::ostream* out, pid_t tid) : out_(out), tid_(tid) {}

  void retire(const Instruction& instruction, std::uint64_t ip, std::uint64_t next);
  void on(std::uint64_t ip) { line(0, ip, "on"); }
  void off(std::uint64_t ip) { line(ip, 0, "off"); }
  void interrupt(std::uint64_t ip) { line(ip, 0, "interrupt"); }
  void line(std::uint64_t from, std::uint64_t to, std::string_view kind);

private:
  std::ostream* out_;
  pid_t tid_;
};

} // namespace ptlens::ptsim
