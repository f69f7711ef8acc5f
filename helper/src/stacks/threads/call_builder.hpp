// One thread's branches to calls. A stack of return addresses, after kernel
// tools/perf/util/thread-stack.c, with these rules of our own:
//
// - A jump to another function's entry is a tail call: a frame on the same return address, which
//   ends with the one below. Copies and parts that the compiler made of a function are that
//   function.
// - Stubs (PLT, lazy binding, retpolines) are folded into what they reach.
// - Control that arrives where the innermost frame does not return to is looked for in the whole
//   stack and in all other stacks of the thread (arrivals.cpp): longjmp and exceptions pop what is
//   above as unwound; coroutines leave their stack as it is until control comes back to it.
// - A signal handler runs in a frame of its own, "[signal]", on what it interrupted
//   (interruptions.cpp).
// - A gap keeps the frames and takes their statistics; what comes after tells which of them lived.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/context_switches.hpp"
#include "stacks/calls/open_calls.hpp"
#include "stacks/threads/thread_calls.hpp"
#include "stacks/transfer/code_facts.hpp"
#include "stacks/transfer/frames.hpp"
#include "stacks/transfer/resumed_stack.hpp"
#include "stacks/transfer/suspended_stacks.hpp"
#include "stacks/transfer/symbolizer.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ptlens::stacks {

class CallBuilder : public ThreadCalls {
public:
  // The references must outlive the builder. Spaces given to add() must live as long.
  CallBuilder(CallSink& sink, Symbolizer& symbolizer, CodeFacts& facts,
              const flow::ContextSwitches& context_switches, std::int32_t tid)
      : log_(sink, context_switches, tid), symbolizer_(&symbolizer), facts_(&facts) {}

  void add(const flow::Branch& branch, const symbols::AddressSpaceVersion& space) override;
  void add_all(std::span<const flow::Branch> branches,
               const symbols::AddressSpaceVersion& space) override;
  void add_returned(const flow::ReturnedCalls& part, std::span<const flow::ReturnedCall> calls,
                    const flow::CodePoints& points,
                    const symbols::AddressSpaceVersion& space) override;
  void exec(std::uint64_t time_ns) override;
  void finish(bool exited) override;

protected:
  // Takes a branch in: later than add() where what follows must be known first.
  virtual void take(const flow::Branch& branch, const symbols::AddressSpaceVersion& space);
  // The call that control is in, no_call before the first branch.
  [[nodiscard]] std::uint32_t current_call() const {
    const Stack& stack = stacks_[current_];
    return stack.empty() ? no_call : stack.frames.back().call;
  }
  // True while it is not known which stack control has come to.
  [[nodiscard]] bool undecided() const { return lookahead_.has_value(); }
  [[nodiscard]] OpenCalls& log() { return log_; }

private:
  using Branch = flow::Branch;
  using Space = symbols::AddressSpaceVersion;

  [[nodiscard]] Stack& stack() { return stacks_[current_]; }
  [[nodiscard]] Frame& top() { return stack().frames.back(); }

  // Neither gap nor kernel: a transfer that is none to where another stack waits concerns the
  // innermost frame alone.
  [[nodiscard]] bool is_plain() const {
    return started_ && !lookahead_ && !in_gap_ && !outside_ && !stacks_[current_].empty();
  }
  // plain_calls.cpp
  std::size_t take_plain(std::span<const Branch> branches, const Space& space);
  [[nodiscard]] bool change_stack(std::span<const flow::ReturnedCall> calls,
                                  const flow::CodePoints& points, const Space& space);
  // A call that goes there opens a frame, whatever came before.
  [[nodiscard]] static bool enters(const Place& place) {
    return !place.folded && (!place.known || (place.entry && !place.part));
  }
  void push_callee(const Branch& call, const Space& space, std::uint32_t function);
  [[nodiscard]] bool return_plainly(const Branch& ret);
  [[nodiscard]] bool call_through_stub(const Branch& call, const Place& stub, const Branch& jump,
                                       const Space& space);
  void transfer(const Branch& branch, const Space& space);
  void call(const Branch& branch, const Space& space);
  void jump(const Branch& branch, const Space& space);
  void indirect_jump(const Branch& branch, const Space& space);
  void ret(const Branch& branch, const Space& space);

  Frame& push(std::uint64_t time_ns, std::uint32_t function, std::uint32_t site,
              std::uint64_t return_address);
  void push_tail(std::uint64_t time_ns, std::uint32_t function, std::uint32_t site);
  void push_damaged(std::uint64_t time_ns, std::uint32_t function);
  void fold_top();
  void pop(std::uint64_t time_ns, CallState state);
  void pop_to(std::size_t size, std::uint64_t time_ns, CallState state);
  void pop_tails(std::uint64_t time_ns);
  void finish_top(std::uint64_t time_ns);
  [[nodiscard]] bool in_stub() { return top().folded || top().stub_site != no_site; }
  void enter_stub(const Branch& branch, const Space& space, const Place& place);
  void leave_stub(const Branch& branch, const Place& place);

  // arrivals.cpp: control is where the innermost frame does not return to.
  void arrive(const Branch& branch, const Space& space, const Place& place);
  void arrive_at_entry(const Branch& branch, const Space& space, const Place& place);
  bool arrive_in_own_stack(const Branch& branch, const Space& space, const Place& place);
  // By an instruction that may lead anywhere.
  [[nodiscard]] static bool leaves_indirectly(const Branch& branch) {
    return branch.kind == flow::BranchKind::ret || branch.kind == flow::BranchKind::indirect;
  }
  // Code that has replaced the stack goes to where another one waits.
  [[nodiscard]] bool changes_stack(const Branch& branch, const Space& space) {
    return leaves_indirectly(branch) && suspended_.waits_at(branch.to) &&
           facts_->replaces_stack(space, branch.from);
  }
  // The same of one by which a way of those points ends; `to` is asked only where it counts.
  template <class To>
  [[nodiscard]] bool changes_stack(const flow::CodePoints& points, flow::BlockIndex way,
                                   const To& to, const Space& space) {
    return facts_->replaces_stack(space, points, way, [&] { return suspended_.waits_at(to()); });
  }
  bool arrive_in_waiting_stack(const Branch& branch);
  bool arrive_deep_in_other_stack(const Branch& branch);
  void hold(const ResumedStack::Held& held, std::span<const flow::ReturnedCall> calls);
  void decide();
  [[nodiscard]] std::size_t with_landing_pad(const Space& space, const Place& place,
                                             std::uint64_t address);
  void return_to_unknown(const Branch& branch, const Place& place);
  void return_from_unknown(const Branch& branch, const Place& place);
  void begin_stack(std::uint64_t time_ns);
  void switch_to(std::size_t index, std::uint64_t time_ns);

  // interruptions.cpp: the kernel, signals, gaps.
  void on(const Branch& branch, const Space& space);
  void on_after_gap(const Branch& branch, const Place& place);
  void off(const Branch& branch);
  void gap(const Branch& branch);
  void doubt(std::uint64_t since_ns);
  void spend_outside(std::uint64_t time_ns);
  [[nodiscard]] bool resumes_in_kernel(const Branch& branch);
  void resume_in_kernel(const Branch& branch, const Place& place);
  void leave(const Branch& branch, const Space& space);
  void return_to_user(const Branch& branch, const Space& space);
  void begin_signal(std::uint64_t time_ns, const Place& handler);
  bool end_signal(const Branch& branch, const Place& place);
  bool return_from_handler(const Branch& branch);
  void end_stack(std::uint64_t time_ns, CallState state);

  OpenCalls log_;
  Symbolizer* symbolizer_;
  CodeFacts* facts_;
  std::vector<Stack> stacks_{1};
  std::size_t current_ = 0;
  SuspendedStacks suspended_;
  std::uint64_t turns_ = 0;
  std::optional<ResumedStack> lookahead_;
  bool started_ = false;
  std::uint64_t taken_ns_ = 0; // time of the last branch that was taken in
  bool in_gap_ = false;
  bool outside_ = false; // tracing is off
  std::uint64_t outside_since_ = 0;
  std::uint64_t resume_address_ = 0; // where it should come back on
  bool interrupted_ = false;         // not by a system call
  std::uint64_t gap_begin_ = 0;
  std::uint64_t root_start_ns_ = 0; // of frames entered before the trace
};

// Here because it is called for each call of a recording.
inline Frame& CallBuilder::push(std::uint64_t time_ns, std::uint32_t function, std::uint32_t site,
                                std::uint64_t return_address) {
  std::vector<Frame>& frames = stack().frames;
  const std::uint32_t parent = frames.empty() ? no_call : frames.back().call;
  Frame& frame = frames.emplace_back();
  frame.call = log_.open(function, parent, site, time_ns, false);
  frame.function = function;
  frame.return_address = return_address;
  return frame;
}

} // namespace ptlens::stacks
