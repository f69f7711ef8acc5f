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

// The order of opening continues from the calls so far. The fields of each row are assigned one by
// one: this compiler clears a new row by an instruction that takes longer than all else here.
void OpenCalls::add_paired(OpenCallId call, const CallGroup& group,
                           std::span<const PairedCall> calls, Symbolizer::Labels& labels) {
  constexpr std::size_t together = 64;
  paired_.resize(together);
  const perfdata::OffCpu off =
      off_cpu_.before(group.last_ns) - off_cpu_.before(calls.front().start_ns);
  const bool on_cpu = off.switches == 0 && off.total_ns() == 0;
  ClosedCall& above = calls_[call].row;
  const std::uint64_t begun_ns = latest_ns_;
  std::uint64_t latest_ns = latest_ns_;
  std::uint64_t children_ns = 0;
  std::uint64_t outside_ns = 0;
  std::uint32_t order = opened_;
  std::size_t filled = 0;
  for (const PairedCall& each : calls) {
    labels.learn(each.target, each.to_id, each.site, each.from_id);
    ClosedCall& row = paired_[filled];
    row.function = labels.function(each.target);
    row.site = labels.site(each.site);
    row.order = CallId{order++};
    row.uncertainty = sum_or_most(each.start_uncertainty, each.end_uncertainty);
    row.switches = 0;
    row.state = CallState::complete;
    row.tail_call = each.is_tail();
    row.inner = each.inner || active(row.function) != 0;
    row.late = each.start_ns < begun_ns;
    row.end_unknown = false;
    row.start = each.start_ns;
    row.latency = each.latency_ns;
    row.removed = 0;
    row.children = each.children_ns;
    row.outside = each.outside_ns;
    row.blocked = 0;
    row.preempted = 0;
    const std::uint32_t parent = each.parent - group.begin;
    if (parent < calls.size()) {
      row.parent = CallId{opened_ + parent};
      row.caller = labels.function(calls[parent].target);
    } else {
      row.parent = above.order;
      row.caller = above.function;
      children_ns += row.latency;
      outside_ns += row.outside;
    }
    const std::uint64_t end_ns = row.start + row.latency;
    latest_ns = std::max(latest_ns, end_ns);
    if (!on_cpu) {
      const perfdata::OffCpu of_call = off_cpu_.before(end_ns) - off_cpu_.before(row.start);
      row.blocked = of_call.blocked_ns;
      row.preempted = of_call.preempted_ns;
      row.switches = of_call.switches;
    }
    if (++filled == together) {
      hand_on(paired_);
      filled = 0;
    }
  }
  hand_on(std::span(paired_).first(filled));
  above.children += children_ns;
  above.outside += outside_ns;
  latest_ns_ = latest_ns;
  opened_ = order;
  if (waiting_.size() >= most_waiting) {
    hand_on_waiting();
  }
}

void OpenCalls::hand_on(std::span<const ClosedCall> rows) {
  if (provisional_ == 0) [[likely]] {
    sink_->take_all(rows);
  } else {
    waiting_.insert(waiting_.end(), rows.begin(), rows.end());
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
  sink_->take_all(waiting_);
  waiting_.clear();
}

} // namespace ptlens::stacks
