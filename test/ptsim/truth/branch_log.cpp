// Lines of the branch log.
#include "truth/branch_log.hpp"

#include <fmt/ostream.h>

namespace ptlens::ptsim {

void BranchLog::retire(const Instruction& instruction, std::uint64_t ip, std::uint64_t next) {
  switch (instruction.flow) {
  case FlowKind::none:
  case FlowKind::unsupported:
    return;
  case FlowKind::conditional:
    if (next != ip + instruction.length) {
      line(ip, next, "cond");
    }
    return;
  case FlowKind::jump:
    line(ip, next, "jump");
    return;
  case FlowKind::indirect_jump:
    line(ip, next, "indirect");
    return;
  case FlowKind::call:
  case FlowKind::indirect_call:
    line(ip, next, "call");
    return;
  case FlowKind::ret:
    line(ip, next, "return");
    return;
  case FlowKind::syscall:
  case FlowKind::trap:
    line(ip, 0, "syscall");
    return;
  }
}

void BranchLog::line(std::uint64_t from, std::uint64_t to, std::string_view kind) {
  if (out_ == nullptr) {
    return;
  }
  fmt::print(*out_, "{}\t{:x}\t{:x}\t{}", tid_, from, to, kind);
  if (moment_) {
    fmt::print(*out_, "\t{}\t{}\t{}", moment_->cpu, moment_->ns, moment_->lost ? 1 : 0);
  }
  *out_ << '\n';
}

} // namespace ptlens::ptsim
