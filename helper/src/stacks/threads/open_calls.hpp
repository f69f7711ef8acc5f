// The open calls of one thread, with their parents, the time of their children and their off-CPU
// time. Each call is handed on when it closes. When calls open and close is decided by the users.
#pragma once

#include "base/interface.hpp"
#include "perfdata/contents/context_switches.hpp"
#include "stacks/calls/call.hpp"
#include "stacks/calls/closed_call.hpp"
#include "stacks/pairing/paired_calls.hpp"
#include "stacks/transfer/symbolizer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

namespace ptlens::stacks {

// The time that probes took inside a call, ns.
struct ProbeTime {
  double ns = 0;
  double uncertainty_ns = 0;
  std::uint64_t preempted_ns = 0; // how long other threads ran, at most, while a hit was handled
};

class OpenCalls {
public:
  // The references must outlive the object.
  OpenCalls(CallSink& sink, const perfdata::ContextSwitches& context_switches, std::int32_t tid)
      : sink_(&sink), off_cpu_(context_switches.off_cpu_clock(tid)) {}

  // Sets the uncertainty of the times given from here on: ± ns.
  void set_uncertainty(std::uint32_t uncertainty_ns) { uncertainty_ns_ = uncertainty_ns; }
  [[nodiscard]] std::uint32_t uncertainty() const { return uncertainty_ns_; }

  // Is notified of every call just before it closes.
  class Listener : public Interface {
  public:
    virtual void closing(OpenCallId call, std::uint64_t end_ns, CallState state) = 0;
  };
  void set_listener(Listener* listener) { listener_ = listener; } // must outlive the object

  // Calls and time outside user code of the open call belong to `row` from here on, which is an
  // execution of inlined code inside the call; none: to the call itself.
  void nest(OpenCallId call, OpenCallId row);

  // Opens a call. Returns its handle, which another call may get once this one has closed. `parent`
  // is a handle too.
  OpenCallId open(FunctionId function, OpenCallId parent, SiteId site, std::uint64_t start_ns,
                  bool tail_call);
  // Closes the call. Its parent closes later.
  void close(OpenCallId call, std::uint64_t end_ns, CallState state) {
    close(call, end_ns, state, ProbeTime{});
  }
  // Does the same, and subtracts the time of probes from the call's time on a CPU. Where they seem
  // to have taken more than that, its latency is at most what the least of their time leaves, and
  // never more than what was measured.
  void close(OpenCallId call, std::uint64_t end_ns, CallState state, const ProbeTime& probes);
  // Closes an unwound call that ended at an unknown time, not later than `last_ns`.
  void close_unseen(OpenCallId call, std::uint64_t last_ns);
  // The open call was counted before: nothing is handed on.
  void discard(OpenCallId call, std::uint64_t end_ns);
  // Adds a group of paired calls. Its outermost calls were made in the open call.
  void add_paired(OpenCallId call, const CallGroup& group, std::span<const PairedCall> calls,
                  Symbolizer::Labels& labels);
  // Sets the site of an open call once it is known.
  void set_site(OpenCallId call, SiteId site) { calls_[call].row.site = site; }
  // The open call began at a stub. Its function is set by rename() once it is known.
  void set_provisional(OpenCallId call);
  void rename(OpenCallId call, FunctionId function);
  // Sets the parent of an open call once it is known. The parent began no later.
  void reparent(OpenCallId call, OpenCallId parent);
  // Excludes `ns` from the self time of the open call: another stack of the thread ran meanwhile.
  void spend_elsewhere(OpenCallId call, std::uint64_t ns) {
    calls_[innermost(call)].row.children += ns;
  }
  // Adds `ns` during which tracing was off and the open call was the innermost one.
  void spend_outside(OpenCallId call, std::uint64_t ns) {
    calls_[innermost(call)].row.outside += ns;
  }
  [[nodiscard]] bool was_switched_out(std::uint64_t begin_ns, std::uint64_t end_ns) {
    return begin_ns < end_ns && (off_cpu_.before(end_ns) - off_cpu_.before(begin_ns)).switches != 0;
  }
  // Returns true where the thread was off-CPU during all of that time, apart from the delay between
  // a switch and its record.
  [[nodiscard]] bool was_off_cpu(std::uint64_t begin_ns, std::uint64_t end_ns) {
    constexpr std::uint64_t between_ns = 5000;
    const std::uint64_t off_ns = (off_cpu_.before(end_ns) - off_cpu_.before(begin_ns)).total_ns();
    return begin_ns < end_ns && off_ns != 0 && end_ns - begin_ns <= off_ns + between_ns;
  }

  // The data of an open call.
  [[nodiscard]] std::uint64_t start(OpenCallId call) const { return calls_[call].row.start; }
  [[nodiscard]] SiteId site(OpenCallId call) const { return calls_[call].row.site; }
  [[nodiscard]] CallId order(OpenCallId call) const { return calls_[call].row.order; }
  // Returns the number of calls that were opened so far.
  [[nodiscard]] std::uint32_t opened() const { return opened_; }

private:
  struct Open {
    ClosedCall row;
    perfdata::OffCpu before_start; // of the thread, before the call
    OpenCallId parent = OpenCallId::none;
    bool provisional = false;
  };

  static std::uint32_t sum_or_most(std::uint32_t one, std::uint32_t other) {
    const std::uint64_t sum = std::uint64_t{one} + other;
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(sum, std::numeric_limits<std::uint32_t>::max()));
  }
  [[nodiscard]] OpenCallId innermost(OpenCallId call) const {
    return nested_.empty() ? call : nested_row(call);
  }
  [[nodiscard]] OpenCallId nested_row(OpenCallId call) const;
  std::uint32_t& active(FunctionId function) {
    return active_.has(function) ? active_[function] : add_active(function);
  }
  std::uint32_t& add_active(FunctionId function);
  void activate(ClosedCall& row) { row.inner = active(row.function)++ != 0; }
  void notify_listener(OpenCallId call, std::uint64_t end_ns, CallState state);
  void hand_on(OpenCallId call);
  void hand_on(std::span<const ClosedCall> rows);
  static void remove_time(ClosedCall& row, const ProbeTime& probes);
  void wait(Open& call);
  void settle(Open& call);
  void hand_on_waiting();

  CallSink* sink_;
  perfdata::OffCpuClock off_cpu_;
  IdVector<OpenCallId, Open> calls_;
  std::vector<OpenCallId> free_;
  IdVector<FunctionId, std::uint32_t> active_;                   // open calls
  std::unordered_map<FunctionId, std::uint32_t> active_inlined_; // the same for high numbers
  std::uint32_t opened_ = 0;
  std::uint32_t uncertainty_ns_ = 0;
  std::uint64_t latest_ns_ = 0;
  Listener* listener_ = nullptr;
  std::unordered_map<OpenCallId, OpenCallId> nested_; // row by call
  std::size_t provisional_ = 0;                       // open calls whose function is unknown
  std::vector<ClosedCall> waiting_;                   // calls that closed meanwhile
  std::vector<ClosedCall> paired_;                    // memory for add_paired()
};

// The following functions are inline because they are called for each call of a recording.

inline OpenCallId OpenCalls::open(FunctionId function, OpenCallId parent, SiteId site,
                                  std::uint64_t start_ns, bool tail_call) {
  OpenCallId handle{};
  if (free_.empty()) [[unlikely]] {
    handle = calls_.next_id();
    calls_.emplace_back();
  } else {
    handle = free_.back();
    free_.pop_back();
  }
  Open& call = calls_[handle];
  call.row = ClosedCall{.function = function,
                        .site = site,
                        .order = CallId{opened_++},
                        .uncertainty = uncertainty_ns_,
                        .tail_call = tail_call,
                        .late = start_ns < latest_ns_,
                        .start = start_ns};
  latest_ns_ = std::max(latest_ns_, start_ns);
  call.before_start = off_cpu_.before(start_ns);
  call.provisional = false;
  activate(call.row);
  reparent(handle, innermost(parent));
  return handle;
}

inline void OpenCalls::reparent(OpenCallId call, OpenCallId parent) {
  ClosedCall& row = calls_[call].row;
  calls_[call].parent = parent;
  row.parent = CallId::none;
  if (parent != OpenCallId::none) {
    ClosedCall& above = calls_[parent].row;
    row.parent = above.order;
    if (above.order > row.order) [[unlikely]] {
      above.late = true;
    }
  }
}

inline void OpenCalls::close(OpenCallId handle, std::uint64_t end_ns, CallState state,
                             const ProbeTime& probes) {
  if (listener_ != nullptr) [[unlikely]] {
    notify_listener(handle, end_ns, state);
  }
  Open& call = calls_[handle];
  ClosedCall& row = call.row;
  const std::uint64_t end = std::max(row.start, end_ns);
  latest_ns_ = std::max(latest_ns_, end);
  const perfdata::OffCpu off = off_cpu_.before(end) - call.before_start;
  row.latency = end - row.start;
  row.uncertainty = sum_or_most(row.uncertainty, uncertainty_ns_);
  row.blocked = off.blocked_ns;
  row.preempted = off.preempted_ns;
  row.switches = off.switches;
  row.state = state;
  if (probes.ns > 0 || probes.uncertainty_ns > 0) [[unlikely]] {
    remove_time(row, probes);
  }
  hand_on(handle);
}

inline void OpenCalls::hand_on(OpenCallId handle) {
  Open& call = calls_[handle];
  ClosedCall& row = call.row;
  if (call.parent != OpenCallId::none) {
    ClosedCall& parent = calls_[call.parent].row;
    row.caller = parent.function;
    parent.children += row.latency;
    parent.outside += row.outside;
  }
  --active(row.function);
  free_.push_back(handle);
  if (provisional_ == 0) [[likely]] {
    sink_->take(row);
  } else {
    wait(call);
  }
}

} // namespace ptlens::stacks
