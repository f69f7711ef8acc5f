// Turns the branches of one thread into calls. It keeps a stack of return addresses, as kernel
// tools/perf/util/thread-stack.c does. transfer/transfer_rules.hpp has the rules by which a branch
// is a call, a tail call, a return or none of them. In addition:
//
// - A tail call is a frame with the return address of the frame below, and ends with it. Copies and
//   parts that the compiler made of a function are that function.
// - A stub (PLT, lazy binding, retpolines) becomes the call of the function that it reaches.
// - Where control arrives at an address that the innermost frame does not return to, the builder
//   searches the whole stack and all other stacks of the thread (arrivals.cpp). longjmp and
//   exceptions pop the frames above as unwound. Coroutines leave their stack unchanged until
//   control comes back to it.
// - Go's goroutines are stacks too, but which of them continues is not known
//   (goroutine_switches.cpp).
// - A signal handler runs in a frame of its own, "[signal]", above the code that it interrupted
//   (interruptions.cpp).
// - A gap keeps the frames, but takes their calls out of the statistics. The branches after the gap
//   show which frames are still open.
#pragma once

#include "flow/branches/branch.hpp"
#include "perfdata/contents/context_switches.hpp"
#include "stacks/frames/frames.hpp"
#include "stacks/frames/suspended_stacks.hpp"
#include "stacks/threads/open_calls.hpp"
#include "stacks/threads/resumed_stack.hpp"
#include "stacks/threads/thread_calls.hpp"
#include "stacks/transfer/code_facts.hpp"
#include "stacks/transfer/stack_switch.hpp"
#include "stacks/transfer/symbolizer.hpp"
#include "stacks/transfer/transfer_rules.hpp"
#include "stacks/transfer/unwinding.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ptlens::stacks {

class CallBuilder : public ThreadCalls {
public:
  // The references must outlive the builder, and so must the spaces given to add().
  CallBuilder(CallSink& sink, Symbolizer& symbolizer, CodeFacts& facts,
              const perfdata::ContextSwitches& context_switches, std::int32_t tid)
      : calls_(sink, context_switches, tid), symbolizer_(&symbolizer), facts_(&facts) {}

  void add(const flow::Branch& branch, const symbols::AddressSpaceVersion& space) override;
  void add_all(std::span<const flow::Branch> branches,
               const symbols::AddressSpaceVersion& space) override;
  void add_paired(const PairedGroup& paired, const flow::CodePoints& points,
                  const symbols::AddressSpaceVersion& space) override;
  void exec(std::uint64_t time_ns) override;
  void finish(bool exited) override;

protected:
  // Takes a branch in. This happens later than add() where the decision depends on later branches.
  virtual void take(const flow::Branch& branch, const symbols::AddressSpaceVersion& space);
  // Returns the call that control is in, none before the first branch.
  [[nodiscard]] OpenCallId current_call() const {
    const Stack& stack = stacks_[current_];
    return stack.empty() ? OpenCallId::none : stack.frames.back().call;
  }
  // Returns true while it is not known which stack control has come to.
  [[nodiscard]] bool undecided() const { return resumed_.has_value(); }
  [[nodiscard]] OpenCalls& calls() { return calls_; }

private:
  using Branch = flow::Branch;
  using Space = symbols::AddressSpaceVersion;

  [[nodiscard]] Stack& stack() { return stacks_[current_]; }
  [[nodiscard]] Frame& top() { return stack().frames.back(); }

  // Returns true outside gaps and the kernel: a transfer then concerns the innermost frame alone,
  // unless another stack waits where it goes.
  [[nodiscard]] bool is_plain() const {
    return started_ && !resumed_ && !in_gap_ && !outside_ && !stacks_[current_].empty();
  }
  // plain_calls.cpp
  std::size_t take_plain(std::span<const Branch> branches, const Space& space);
  [[nodiscard]] bool any_switches_stack(std::span<const PairedCall> calls,
                                        const flow::CodePoints& points, const Space& space);
  void push_callee(const Branch& call, const Space& space, FunctionId function);
  [[nodiscard]] bool return_plainly(const Branch& ret);
  [[nodiscard]] bool call_through_stub(const Branch& call, const CodeLocation& stub,
                                       const Branch& jump, const Space& space);
  void transfer(const Branch& branch, const Space& space);
  void call(const Branch& branch, const Space& space);
  void jump(const Branch& branch, const Space& space);
  void indirect_jump(const Branch& branch, const Space& space);
  void ret(const Branch& branch, const Space& space);

  Frame& push(std::uint64_t time_ns, FunctionId function, SiteId site,
              std::uint64_t return_address);
  void push_tail(std::uint64_t time_ns, FunctionId function, SiteId site);
  Frame& push_damaged(std::uint64_t time_ns, FunctionId function);
  void set_stub();
  void close(const Frame& frame, std::uint64_t time_ns, CallState state);
  void pop(std::uint64_t time_ns, CallState state);
  void pop_to(std::size_t size, std::uint64_t time_ns, CallState state);
  void pop_tails(std::uint64_t time_ns);
  void finish_top(std::uint64_t time_ns);
  [[nodiscard]] bool in_stub() { return top().is_stub || top().stub_site != SiteId::none; }
  void enter_stub(const Branch& branch, const Space& space, const CodeLocation& to);
  void leave_stub(const Branch& branch, const CodeLocation& to);

  // arrivals.cpp: control arrives where the innermost frame does not return to.
  void arrive(const Branch& branch, const Space& space, const CodeLocation& to);
  void arrive_at_entry(const Branch& branch, const Space& space, const CodeLocation& to);
  bool arrive_in_own_stack(const Branch& branch, const Space& space, const CodeLocation& to);
  bool arrive_in_waiting_stack(const Branch& branch);
  bool arrive_deep_in_other_stack(const Branch& branch);
  void hold(const ResumedStack::Held& held, const PairedGroup& paired);
  void decide();
  void return_to_unknown(const Branch& branch, const CodeLocation& to);
  void return_from_unknown(const Branch& branch, const CodeLocation& to);
  void begin_stack(std::uint64_t time_ns);
  void switch_to(std::size_t index, std::uint64_t time_ns);

  // goroutine_switches.cpp
  void continue_goroutine(const Branch& branch, const Space& space);
  bool continue_same_goroutine(const Branch& branch, const Space& space, const CodeLocation& to);
  void leave_goroutine(std::uint64_t time_ns);

  // interruptions.cpp: the kernel, signals and gaps.
  void on(const Branch& branch, const Space& space);
  void note_lost_inside(std::uint32_t opened);
  void on_after_gap(const Branch& branch, const CodeLocation& to);
  void off(const Branch& branch);
  void gap(const Branch& branch);
  void doubt(std::uint64_t since_ns);
  void spend_outside(std::uint64_t time_ns);
  [[nodiscard]] bool resumes_in_kernel(const Branch& branch);
  void resume_in_kernel(const Branch& branch, const CodeLocation& to);
  void leave(const Branch& branch, const Space& space);
  void return_to_user(const Branch& branch, const Space& space);
  void begin_signal(std::uint64_t time_ns, const CodeLocation& handler);
  bool end_signal(const Branch& branch, const CodeLocation& to);
  bool return_from_handler(const Branch& branch);
  void end_stack(std::uint64_t time_ns, CallState state);

  OpenCalls calls_;
  Symbolizer* symbolizer_;
  CodeFacts* facts_;
  std::vector<Stack> stacks_{1};
  std::size_t current_ = 0;
  SuspendedStacks suspended_;
  std::uint64_t turns_ = 0;
  std::optional<ResumedStack> resumed_;
  bool started_ = false;
  std::uint64_t taken_ns_ = 0; // time of the last branch that was taken in
  bool in_gap_ = false;
  bool outside_ = false; // tracing is off
  std::uint64_t outside_since_ = 0;
  std::uint64_t resume_address_ = 0; // where tracing should come back on
  bool interrupted_ = false;         // tracing went off by something else than a system call
  std::uint64_t gap_begin_ = 0;
  std::uint64_t root_start_ns_ = 0; // the start of frames entered before the trace
};

// This function is inline because it is called for each call of a recording.
inline Frame& CallBuilder::push(std::uint64_t time_ns, FunctionId function, SiteId site,
                                std::uint64_t return_address) {
  std::vector<Frame>& frames = stack().frames;
  const OpenCallId parent = frames.empty() ? OpenCallId::none : frames.back().call;
  Frame& frame = frames.emplace_back();
  frame.call = calls_.open(function, parent, site, time_ns, false);
  frame.function = function;
  frame.return_address = return_address;
  return frame;
}

} // namespace ptlens::stacks
