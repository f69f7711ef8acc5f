// One thread's branches to calls. The stack of return addresses follows kernel
// tools/perf/util/thread-stack.c, with these rules of our own: a jump to another function's entry
// is a tail call that ends with its caller; PLT stubs and the lazy-binding resolver are folded into
// what they reach; a return that matches an older frame pops what is above it as unwound; code
// reached without a call or return (landing pads, longjmp) pops to the nearest activation of its
// function; a gap keeps the frames and takes their statistics.
#pragma once

#include "flow/branch.hpp"
#include "flow/schedule.hpp"
#include "stacks/call_log.hpp"
#include "stacks/resolver.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace ptlens::stacks {

class CallBuilder {
public:
  // The references must outlive the builder. `thread` is the calls' thread index.
  CallBuilder(CallTable& table, Resolver& resolver, const flow::Schedule& schedule,
              std::uint32_t thread, std::int32_t tid)
      : log_(table, schedule, thread, tid), resolver_(&resolver) {}

  // Branches in order; `space` is the process's code at that time.
  void add(const flow::Branch& branch, const symbols::AddressSpaceVersion& space);

  // The process image was replaced: nothing returns.
  void exec(std::uint64_t time_ns);
  // The end of what was traced; `exited`: because the thread ended.
  void finish(bool exited);

  // Gaps as [begin, end) in ns, in order.
  [[nodiscard]] const std::vector<std::pair<std::uint64_t, std::uint64_t>>& gaps() const {
    return gaps_;
  }
  [[nodiscard]] std::uint64_t first_ns() const { return first_ns_; }
  [[nodiscard]] std::uint64_t last_ns() const { return last_ns_; }

private:
  struct Frame {
    std::uint32_t call = no_call;
    std::uint32_t function = no_call;
    std::uint64_t return_address = 0; // 0: not known
    std::uint64_t resume_address = 0; // of a signal handler: where the program was interrupted
    bool folded = false;              // still inside a stub or resolver
    bool tail = false;
    bool damaged = false; // start unknown, or a gap inside
  };

  struct LocalCall { // a call inside one function, not to its entry: no call of ours
    std::size_t depth = 0;
    std::uint64_t return_address = 0;
  };

  void on(const flow::Branch& branch, const symbols::AddressSpaceVersion& space);
  void gap(const flow::Branch& branch);
  void call(const flow::Branch& branch, const symbols::AddressSpaceVersion& space);
  void jump(const flow::Branch& branch, const symbols::AddressSpaceVersion& space);
  void ret(const flow::Branch& branch, const symbols::AddressSpaceVersion& space);
  void leave(const flow::Branch& branch, const symbols::AddressSpaceVersion& space);
  // Control is at a place that no frame's return address explains.
  void land(std::uint64_t time_ns, const Place& place, CallState popped);
  bool land_in_frame(std::uint64_t time_ns, std::uint32_t function, CallState popped);

  void push(std::uint64_t time_ns, const Place& place, std::uint32_t site,
            std::uint64_t return_address, bool tail);
  void push_damaged(std::uint64_t time_ns, const Place& place);
  void push_root(const Place& place);
  void pop(std::uint64_t time_ns, CallState state);
  void pop_to(std::size_t size, std::uint64_t time_ns, CallState state);
  void return_to_unknown(std::uint64_t time_ns, const Place& place);
  void replace_root(std::uint64_t time_ns, const Place& place);

  CallLog log_;
  Resolver* resolver_;
  std::vector<Frame> stack_;
  std::vector<LocalCall> local_calls_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps_;
  bool started_ = false;
  bool in_gap_ = false;
  bool outside_ = false;             // tracing is off
  std::uint64_t resume_address_ = 0; // where it should come back on
  std::uint64_t gap_begin_ = 0;
  std::uint64_t root_start_ns_ = 0; // of frames entered before the trace
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ns_ = 0;
};

} // namespace ptlens::stacks
