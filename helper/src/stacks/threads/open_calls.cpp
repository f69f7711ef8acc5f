// A handle is a slot that is reused. The sums of a call are in its slot while it is open.
#include "stacks/threads/open_calls.hpp"

#include <algorithm>
#include <cmath>

namespace ptlens::stacks {
namespace {

constexpr std::size_t most_waiting = std::size_t{1} << 16U;

} // namespace

// Functions of inlined code have high numbers.
std::uint32_t& OpenCalls::add_active(FunctionId function) {
  constexpr std::uint32_t first_high = std::uint32_t{1} << 31U;
  if (index_of(function) >= first_high) {
    return active_inlined_[function];
  }
  active_.resize(std::max<std::size_t>(std::size_t{index_of(function)} + 1, 2 * active_.size()));
  return active_[function];
}

void OpenCalls::nest(OpenCallId call, OpenCallId row) {
  if (row == OpenCallId::none) {
    nested_.erase(call);
  } else {
    nested_.insert_or_assign(call, row);
  }
}

OpenCallId OpenCalls::nested_row(OpenCallId call) const {
  const auto found = nested_.find(call);
  return found == nested_.end() ? call : found->second;
}

void OpenCalls::notify_listener(OpenCallId call, std::uint64_t end_ns, CallState state) {
  listener_->closing(call, end_ns, state);
  nested_.erase(call);
}

void OpenCalls::remove_time(ClosedCall& row, const ProbeTime& probes) {
  constexpr auto most = static_cast<double>(std::uint64_t{1} << 62U);
  const auto whole = [most](double ns) {
    return static_cast<std::uint64_t>(std::llround(std::clamp(ns, 0.0, most)));
  };
  const std::uint64_t taken = whole(probes.ns);
  const std::uint64_t uncertain = whole(std::ceil(probes.uncertainty_ns));
  const std::uint64_t on_cpu = row.latency - std::min(row.latency, row.blocked + row.preempted);
  row.removed = std::min(taken, on_cpu);
  row.latency -= row.removed;
  std::uint64_t within = uncertain;
  if (taken > on_cpu) {
    const std::uint64_t least = taken - std::min(taken, uncertain); // that probes took
    within = least <= on_cpu ? on_cpu - least : on_cpu;
  }
  within += std::min(probes.preempted_ns, row.preempted);
  row.uncertainty = sum_or_most(
      row.uncertainty, static_cast<std::uint32_t>(std::min<std::uint64_t>(within, UINT32_MAX)));
}

void OpenCalls::close_unseen(OpenCallId handle, std::uint64_t last_ns) {
  if (listener_ != nullptr) {
    notify_listener(handle, last_ns, CallState::unwound);
  }
  ClosedCall& row = calls_[handle].row;
  const std::uint64_t most = std::max(row.start, last_ns) - row.start;
  latest_ns_ = std::max(latest_ns_, row.start + most);
  row.latency = std::min(row.children, most);
  row.uncertainty =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(most - row.latency, UINT32_MAX));
  row.state = CallState::unwound;
  row.end_unknown = true;
  hand_on(handle);
}

// The order of opening continues from the calls so far.
void OpenCalls::add_paired(OpenCallId call, const CallGroup& group,
                           std::span<const PairedCall> calls, Symbolizer::Labels& labels) {
  const flow::OffCpu off = off_cpu_.before(group.last_ns) - off_cpu_.before(calls.front().start_ns);
  const bool on_cpu = off.switches == 0 && off.total_ns() == 0;
  Open& above = calls_[call];
  const std::uint64_t latest_ns = latest_ns_;
  std::uint32_t order = opened_;
  for (const PairedCall& each : calls) {
    labels.learn(each.target, each.to_id, each.site, each.from_id);
    ClosedCall row{.function = labels.function(each.target),
                   .site = labels.site(each.site),
                   .order = CallId{order++},
                   .uncertainty = sum_or_most(each.start_uncertainty, each.end_uncertainty),
                   .state = CallState::complete,
                   .tail_call = each.is_tail(),
                   .late = each.start_ns < latest_ns,
                   .start = each.start_ns,
                   .latency = each.latency_ns,
                   .children = each.children_ns};
    row.inner = each.inner || active(row.function) != 0;
    const std::uint32_t parent = each.parent - group.begin;
    if (parent < calls.size()) {
      row.parent = CallId{opened_ + parent};
      row.caller = labels.function(calls[parent].target);
    } else {
      row.parent = above.row.order;
      row.caller = above.row.function;
      above.row.children += row.latency;
    }
    latest_ns_ = std::max(latest_ns_, row.start + row.latency);
    if (!on_cpu) {
      const flow::OffCpu of_call =
          off_cpu_.before(row.start + row.latency) - off_cpu_.before(row.start);
      row.blocked = of_call.blocked_ns;
      row.preempted = of_call.preempted_ns;
      row.switches = of_call.switches;
    }
    if (provisional_ == 0) [[likely]] {
      sink_->take(row);
    } else {
      waiting_.push_back(row);
    }
  }
  opened_ = order;
  if (waiting_.size() >= most_waiting) {
    hand_on_waiting();
  }
}

void OpenCalls::discard(OpenCallId handle, std::uint64_t end_ns) {
  if (listener_ != nullptr) {
    notify_listener(handle, end_ns, CallState::incomplete);
  }
  Open& call = calls_[handle];
  if (call.parent != OpenCallId::none) {
    ClosedCall& parent = calls_[call.parent].row;
    parent.children += std::max(call.row.start, end_ns) - call.row.start;
    parent.outside += call.row.outside;
  }
  --active(call.row.function);
  free_.push_back(handle);
  settle(call);
}

// The call closes while the function of another open call is still unknown.
void OpenCalls::wait(Open& call) {
  waiting_.push_back(call.row);
  settle(call);
  if (waiting_.size() >= most_waiting) {
    hand_on_waiting();
  }
}

void OpenCalls::set_provisional(OpenCallId call) {
  provisional_ += calls_[call].provisional ? 0 : 1;
  calls_[call].provisional = true;
}

// Calls from the stub are calls from the function that the stub leads to, and may be calls of it.
void OpenCalls::rename(OpenCallId handle, FunctionId function) {
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

void OpenCalls::settle(Open& call) {
  if (call.provisional) {
    call.provisional = false;
    if (--provisional_ == 0) {
      hand_on_waiting();
    }
  }
}

void OpenCalls::hand_on_waiting() {
  for (const ClosedCall& row : waiting_) {
    sink_->take(row);
  }
  waiting_.clear();
}

} // namespace ptlens::stacks
