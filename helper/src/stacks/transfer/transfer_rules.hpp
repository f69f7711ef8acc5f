// What a transfer of control means for the stack of calls: the rules by which calls begin, continue
// in another function and end. Two users decide by them. stacks/pairing pairs calls with their
// returns inside a stretch of trace and takes only the cases that are certain. stacks/threads takes
// all cases. unwinding.hpp and stack_switch.hpp have the rules for control that leaves the frame by
// another path than its return.
#pragma once

#include "flow/branches/branch.hpp"
#include "stacks/transfer/code_location.hpp"

#include <cstdint>

namespace ptlens::stacks {

// --- Calls ---

// Returns true for a call to the next instruction, which only reads the instruction pointer.
[[nodiscard]] constexpr bool reads_instruction_pointer(std::uint64_t to,
                                                       std::uint64_t return_address) {
  return to == return_address;
}

// Returns true where a call begins a call of the function at `to`, whatever came before.
[[nodiscard]] constexpr bool begins_call(const CodeLocation& to) {
  return !to.is_stub && (!to.known || (to.entry && !to.part));
}

// Returns true for a call of a subroutine inside the function, or of a part of it: a return address
// without a call of its own.
[[nodiscard]] constexpr bool is_local_call(const CodeLocation& from, const CodeLocation& to) {
  const bool own_part = to.part && !from.part;
  return to.known && from.function == to.function && (!to.entry || own_part);
}

// --- Tail calls ---

// Returns true where control goes to a part of `function`, in which the function continues.
[[nodiscard]] constexpr bool is_own_part(const CodeLocation& to, FunctionId function) {
  return to.part && to.function == function;
}

// Returns true where a direct jump out of `function` is a tail call: it goes to the entry of
// another function. Other direct jumps stay in the function, or are in assembly that shares code.
[[nodiscard]] constexpr bool is_tail_call(const CodeLocation& to, FunctionId function) {
  return to.function != function && (to.entry || !to.known);
}

// Returns true where an indirect jump out of `function`, or a `ret` used as a jump, is a tail call.
// An indirect jump to the entry of the function itself counts as well: the function begins again.
[[nodiscard]] constexpr bool is_indirect_tail_call(const CodeLocation& to, FunctionId function) {
  return to.entry && !is_own_part(to, function);
}

// Returns true where a thunk that `function` jumped to has reached a function: the jump to the
// thunk was a tail call.
[[nodiscard]] constexpr bool is_tail_call_by_thunk(const CodeLocation& to, FunctionId function) {
  return !is_own_part(to, function) && (to.entry || !to.known);
}

// Returns true where a direct or indirect jump out of `function` is a tail call whatever came
// before.
[[nodiscard]] constexpr bool is_certain_tail_call(const CodeLocation& to, FunctionId function) {
  return is_tail_call(to, function) && to.entry && !to.part;
}

// --- Stubs ---

// Returns true where a stub that was called, or jumped to, has not reached its function yet: it
// continues in another stub. A resolver whose code is missing may go anywhere (`whole_frame`: the
// frame has been nothing but a stub so far).
[[nodiscard]] constexpr bool is_still_in_stub(const CodeLocation& to, bool whole_frame) {
  return to.is_stub || (whole_frame && !to.known);
}

// Returns true for the entry of a stub that is no thunk: a PLT stub or a resolver.
[[nodiscard]] constexpr bool is_stub_entry(const CodeLocation& to) {
  return to.is_stub && !to.is_thunk && to.entry && !to.part;
}

// --- Returns ---

// Returns true where control that arrives at `to` has returned from a frame with that return
// address; 0: the return address is not known.
[[nodiscard]] constexpr bool returns_to(std::uint64_t return_address, std::uint64_t to) {
  return return_address == to && to != 0;
}

// Returns true for a branch by an instruction that may lead anywhere.
[[nodiscard]] constexpr bool leaves_indirectly(flow::BranchKind kind) {
  return kind == flow::BranchKind::ret || kind == flow::BranchKind::indirect;
}

// --- Signals ---

// Returns true where the kernel may have begun a signal handler at `to`.
[[nodiscard]] constexpr bool may_begin_handler(const CodeLocation& to) {
  return to.entry || !to.known;
}

// --- Cases that are certain without the stack before a stretch of trace ---

// Returns true where control is certain to be in the function at `to`, which returns once.
[[nodiscard]] constexpr bool is_certain(const CodeLocation& to) {
  return to.known && !to.is_stub && !to.returns_twice;
}

// Returns true where a call of `to` is certain to begin a call of the function there.
[[nodiscard]] constexpr bool certainly_begins_call(const CodeLocation& to) {
  return is_certain(to) && begins_call(to);
}

// Returns true where an indirect jump to `to` may go through a table of jumps of its function.
[[nodiscard]] constexpr bool may_be_table_jump(const CodeLocation& to) {
  return is_certain(to) && (!to.entry || to.part);
}

} // namespace ptlens::stacks
