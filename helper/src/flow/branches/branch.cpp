// The names of branch kinds and gap reasons, as printed.
#include "flow/branches/branch.hpp"

namespace ptlens::flow {

const char* name(BranchKind kind) {
  switch (kind) {
  case BranchKind::call:
    return "call";
  case BranchKind::ret:
    return "return";
  case BranchKind::jump:
    return "jump";
  case BranchKind::cond:
    return "cond";
  case BranchKind::indirect:
    return "indirect";
  case BranchKind::syscall:
    return "syscall";
  case BranchKind::interrupt:
    return "interrupt";
  case BranchKind::on:
    return "on";
  case BranchKind::off:
    return "off";
  case BranchKind::gap:
    return "gap";
  }
  return "gap";
}

const char* name(GapReason reason) {
  switch (reason) {
  case GapReason::none:
    return "none";
  case GapReason::missing_code:
    return "missing code";
  case GapReason::bad_instruction:
    return "bad instruction";
  case GapReason::overflow:
    return "overflow";
  case GapReason::truncated:
    return "truncated";
  case GapReason::unknown_return:
    return "return to before a gap";
  case GapReason::bad_trace:
    return "bad trace";
  }
  return "none";
}

} // namespace ptlens::flow
