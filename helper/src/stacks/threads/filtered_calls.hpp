// One thread's calls from a trace that an address filter cut (SDM vol. 3, "Filtering by IP"):
// tracing comes on where control enters the filtered range and goes off where it leaves, and the
// packet names both places.
//
// - It comes on at a function's entry: a call begins; its caller is known when it returns.
// - It goes off by a call: a child begins, of which the duration is all that will be seen. On again
//   at the child's return address: the child has ended. On again at another entry while children
//   are under way: they called back into the range.
// - It goes off by a return: the call has ended. By a jump to another function: a tail call, whose
//   end is not traced, so the call is incomplete.
// - All else is the time of "[outside the filter]", the root.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/context_switches.hpp"
#include "stacks/calls/open_calls.hpp"
#include "stacks/threads/thread_calls.hpp"
#include "stacks/transfer/symbolizer.hpp"

#include <cstdint>
#include <vector>

namespace ptlens::stacks {

class FilteredCalls : public ThreadCalls {
public:
  // The references must outlive the builder.
  FilteredCalls(CallSink& sink, Symbolizer& symbolizer,
                const flow::ContextSwitches& context_switches, std::int32_t tid)
      : log_(sink, context_switches, tid), symbolizer_(&symbolizer) {}

  void add(const flow::Branch& branch, const symbols::AddressSpaceVersion& space) override;
  void exec(std::uint64_t time_ns) override;
  void finish(bool exited) override;

private:
  using Branch = flow::Branch;
  using Space = symbols::AddressSpaceVersion;
  struct Frame {
    std::uint32_t call = no_call;
    std::uint32_t function = no_call;
    std::uint64_t return_address = 0; // 0: not known, it was called from outside
    bool outside = false;             // a child that is not traced, or the root
    bool away = false;                // in a part of the function that the filter leaves out
    bool tail = false;                // shares the return address of the frame below
    bool damaged = false;             // start unknown, or a gap inside
  };

  void on(const Branch& branch, const Space& space);
  void off(const Branch& branch, const Space& space);
  void gap(const Branch& branch);
  void call(const Branch& branch, const Space& space, bool leaves);
  void jump(const Branch& branch, const Space& space);
  void ret(const Branch& branch, const Space& space, bool leaves);
  void push(std::uint64_t time_ns, std::uint32_t function, std::uint32_t site,
            std::uint64_t return_address, bool tail);
  void pop(std::uint64_t time_ns, CallState state);
  void pop_to(std::size_t size, std::uint64_t time_ns, CallState state);
  [[nodiscard]] Frame& top() { return frames_.back(); }

  OpenCalls log_;
  Symbolizer* symbolizer_;
  std::vector<Frame> frames_;
  bool in_gap_ = false;
  std::uint64_t gap_begin_ = 0;
  std::uint64_t resume_address_ =
      0; // where the kernel should give control back; 0: it has not got it
};

} // namespace ptlens::stacks
