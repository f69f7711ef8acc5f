// Rebuilds the calls of one thread from a trace that was recorded with an address filter (SDM vol.
// 3, "Filtering by IP"). Tracing comes on where control enters the filtered range and goes off
// where it leaves, and the packets name both addresses.
//
// - Tracing comes on at a function's entry: a call begins. Its caller is known when it returns.
// - Tracing goes off by a call: a child begins. Nothing but its duration will be seen.
// When
//   tracing comes on again at the child's return address, the child has ended. When tracing comes
//   on at another entry while children are open, they called back into the range.
// - Tracing goes off by a return: the call has ended. Tracing goes off by a jump to another
// function:
//   a tail call, whose end is not traced, so that the call is incomplete.
// - All other time belongs to the root, "[outside the filter]".
#pragma once

#include "flow/branches/branch.hpp"
#include "perfdata/contents/context_switches.hpp"
#include "stacks/threads/open_calls.hpp"
#include "stacks/threads/thread_calls.hpp"
#include "stacks/transfer/symbolizer.hpp"
#include "stacks/transfer/transfer_rules.hpp"

#include <cstdint>
#include <vector>

namespace ptlens::stacks {

class FilteredCalls : public ThreadCalls {
public:
  // The references must outlive the builder.
  FilteredCalls(CallSink& sink, Symbolizer& symbolizer,
                const perfdata::ContextSwitches& context_switches, std::int32_t tid)
      : calls_(sink, context_switches, tid), symbolizer_(&symbolizer) {}

  void add(const flow::Branch& branch, const symbols::AddressSpaceVersion& space) override;
  void exec(std::uint64_t time_ns) override;
  void finish(bool exited) override;

private:
  using Branch = flow::Branch;
  using Space = symbols::AddressSpaceVersion;
  struct Frame {
    OpenCallId call = OpenCallId::none;
    FunctionId function = FunctionId::none;
    std::uint64_t return_address = 0; // 0: not known, it was called from outside
    bool outside = false;             // a child that is not traced, or the root
    bool away = false;                // control is in a part of the function outside the filter
    bool tail = false;                // shares the return address of the frame below
    bool damaged = false;             // its start is unknown, or a gap is inside
  };

  void on(const Branch& branch, const Space& space);
  void off(const Branch& branch, const Space& space);
  void gap(const Branch& branch);
  void call(const Branch& branch, const Space& space, bool leaves);
  void jump(const Branch& branch, const Space& space);
  void ret(const Branch& branch, const Space& space, bool leaves);
  void push(std::uint64_t time_ns, FunctionId function, SiteId site, std::uint64_t return_address,
            bool tail);
  void pop(std::uint64_t time_ns, CallState state);
  void pop_to(std::size_t size, std::uint64_t time_ns, CallState state);
  [[nodiscard]] Frame& top() { return frames_.back(); }

  OpenCalls calls_;
  Symbolizer* symbolizer_;
  std::vector<Frame> frames_;
  bool in_gap_ = false;
  std::uint64_t gap_begin_ = 0;
  // The address that the kernel should return to; 0: control is not in the kernel.
  std::uint64_t resume_address_ = 0;
};

} // namespace ptlens::stacks
