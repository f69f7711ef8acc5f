// The names of branch kinds and gap reasons, as printed.
#include "flow/branches/branch.hpp"

#include "base/words.hpp"

namespace ptlens::flow {

namespace {

constexpr Word<BranchKind> kind_names[] = {{BranchKind::call, "call"},
                                           {BranchKind::ret, "return"},
                                           {BranchKind::jump, "jump"},
                                           {BranchKind::cond, "cond"},
                                           {BranchKind::indirect, "indirect"},
                                           {BranchKind::syscall, "syscall"},
                                           {BranchKind::interrupt, "interrupt"},
                                           {BranchKind::on, "on"},
                                           {BranchKind::off, "off"},
                                           {BranchKind::gap, "gap"}};

constexpr Word<GapReason> gap_names[] = {{GapReason::none, "none"},
                                         {GapReason::missing_code, "missing code"},
                                         {GapReason::bad_instruction, "bad instruction"},
                                         {GapReason::overflow, "overflow"},
                                         {GapReason::truncated, "truncated"},
                                         {GapReason::unknown_return, "return to before a gap"},
                                         {GapReason::bad_trace, "bad trace"}};

} // namespace

const char* name(BranchKind kind) {
  return word_of(kind_names, kind);
}

const char* name(GapReason reason) {
  return word_of(gap_names, reason);
}

} // namespace ptlens::flow
