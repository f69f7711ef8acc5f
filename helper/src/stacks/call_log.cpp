// Handles are slots that are used again; the sums of a call are kept in its slot while it is open.
#include "stacks/call_log.hpp"

#include <algorithm>
#include <limits>

namespace ptlens::stacks {
namespace {

constexpr std::size_t most_waiting = std::size_t{1} << 16U;

std::uint32_t sum_or_most(std::uint32_t one, std::uint32_t other) {
  const std::uint64_t sum = std::uint64_t{one} + other;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(sum, std::numeric_limits<std::uint32_t>::max()));
}

} // namespace

std::uint32_t CallLog::open(std::uint32_t function, std::uint32_t parent, std::uint32_t site,
                            std::uint64_t start_ns, bool tail_call) {
  std::uint32_t handle = 0;
  if (free_.empty()) {
    handle = static_cast<std::uint32_t>(calls_.size());
    calls_.emplace_back();
  } else {
    handle = free_.back();
    free_.pop_back();
  }
  Open& call = calls_[handle];
  call.row = ClosedCall{.function = function,
                        .site = site,
                        .order = opened_++,
                        .resolution = spread_ns_,
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

// Inlined functions have numbers of their own, which begin high.
std::uint32_t& CallLog::add_active(std::uint32_t function) {
  constexpr std::uint32_t first_high = std::uint32_t{1} << 31U;
  if (function >= first_high) {
    return active_inlined_[function];
  }
  active_.resize(std::max<std::size_t>(std::size_t{function} + 1, 2 * active_.size()));
  return active_[function];
}

void CallLog::reparent(std::uint32_t call, std::uint32_t parent) {
  ClosedCall& row = calls_[call].row;
  calls_[call].parent = parent;
  row.parent = no_call;
  if (parent != no_call) {
    ClosedCall& above = calls_[parent].row;
    row.parent = above.order;
    above.late = above.late || above.order > row.order;
  }
}

void CallLog::nest(std::uint32_t call, std::uint32_t row) {
  if (row == no_call) {
    nested_.erase(call);
  } else {
    nested_.insert_or_assign(call, row);
  }
}

std::uint32_t CallLog::nested_row(std::uint32_t call) const {
  const auto found = nested_.find(call);
  return found == nested_.end() ? call : found->second;
}

void CallLog::close(std::uint32_t handle, std::uint64_t end_ns, CallState state) {
  if (listener_ != nullptr) {
    listener_->closing(handle, end_ns, state);
    nested_.erase(handle);
  }
  Open& call = calls_[handle];
  ClosedCall& row = call.row;
  const std::uint64_t end = std::max(row.start, end_ns);
  latest_ns_ = std::max(latest_ns_, end);
  const flow::OffCpu off = off_cpu_.before(end) - call.before_start;
  row.latency = end - row.start;
  row.resolution = sum_or_most(row.resolution, spread_ns_);
  row.blocked = off.blocked_ns;
  row.preempted = off.preempted_ns;
  row.switches = off.switches;
  row.state = state;
  if (call.parent != no_call) {
    ClosedCall& parent = calls_[call.parent].row;
    row.caller = parent.function;
    parent.children += row.latency;
    parent.outside += row.outside;
  }
  --active(row.function);
  free_.push_back(handle);
  if (provisional_ == 0) {
    sink_->take(row);
    return;
  }
  waiting_.push_back(row);
  settle(call);
  if (waiting_.size() >= most_waiting) {
    hand_on_waiting();
  }
}

void CallLog::set_provisional(std::uint32_t call) {
  provisional_ += calls_[call].provisional ? 0 : 1;
  calls_[call].provisional = true;
}

// What was called from a stub was called by what the stub stands for, and may be its function's.
void CallLog::rename(std::uint32_t handle, std::uint32_t function) {
  Open& call = calls_[handle];
  --active(call.row.function);
  call.row.function = function;
  activate(call.row);
  for (ClosedCall& row : waiting_) {
    if (row.parent == call.row.order) {
      row.caller = function;
    }
    row.inner = row.inner || (row.function == function && row.order > call.row.order);
  }
  settle(call);
}

void CallLog::settle(Open& call) {
  if (call.provisional) {
    call.provisional = false;
    if (--provisional_ == 0) {
      hand_on_waiting();
    }
  }
}

void CallLog::hand_on_waiting() {
  for (const ClosedCall& row : waiting_) {
    sink_->take(row);
  }
  waiting_.clear();
}

} // namespace ptlens::stacks
