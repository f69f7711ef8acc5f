// Every taken branch of the stepped machine, one line each: "tid from to kind", tab-separated,
// addresses in hex, 0 where control went to or came from the kernel. Kinds: call return jump cond
// indirect syscall interrupt on off gap. Where moments are given, "cpu ns lost" follow: ns of
// perf's clock after the branch, lost 1 where a fault kept the branch out of the trace (but not for
// the last few before an abrupt end: the truth's lost line says from when on).
#pragma once

#include "code/instruction.hpp"

#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>
#include <sys/types.h>

namespace ptlens::ptsim {

class BranchLog {
public:
  struct Moment {
    std::uint32_t cpu = 0;
    std::uint64_t ns = 0;
    bool lost = false;
  };

  // `out` is not owned; null: nothing is written.
  BranchLog(std::ostream* out, pid_t tid) : out_(out), tid_(tid) {}

  [[nodiscard]] bool wanted() const { return out_ != nullptr; }
  // Of the lines that follow.
  void at(const Moment& moment) { moment_ = moment; }
  void renamed(pid_t tid) { tid_ = tid; }

  void retire(const Instruction& instruction, std::uint64_t ip, std::uint64_t next);
  void on(std::uint64_t ip) { line(0, ip, "on"); }
  void off(std::uint64_t ip) { line(ip, 0, "off"); }
  void interrupt(std::uint64_t ip) { line(ip, 0, "interrupt"); }
  void line(std::uint64_t from, std::uint64_t to, std::string_view kind);

private:
  std::ostream* out_;
  pid_t tid_;
  std::optional<Moment> moment_;
};

} // namespace ptlens::ptsim
