// Converts switch records to intervals: for each thread the times off-CPU, for each CPU the threads
// that ran.
#include "perfdata/contents/context_switches.hpp"

#include <algorithm>
#include <iterator>

namespace ptlens::perfdata {

ContextSwitches::ContextSwitches(std::span<const Switch> switches,
                                 std::span<const ThreadName> names, bool recorded) {
  known_ = recorded || !switches.empty();
  struct Open {
    std::uint64_t since = 0;
    bool preempted = false;
  };
  std::map<std::int32_t, Open> out;
  const auto runs_from = [&](std::int32_t tid, std::uint64_t time_ns) {
    if (const auto open = out.find(tid); open != out.end()) {
      off_[tid].push_back(
          {open->second.since, std::max(open->second.since, time_ns), open->second.preempted});
      out.erase(open);
    }
  };
  auto name = names.begin();
  for (const Switch& record : switches) {
    for (; name != names.end() && name->time_ns <= record.time_ns; ++name) {
      if (name->exec) {
        runs_from(name->tid, name->time_ns);
        take_over(*name);
      }
    }
    auto& slots = slots_[record.cpu];
    if (slots.empty()) {
      // The first record of a CPU also names the thread before it.
      slots.push_back({0, record.out ? Running{record.pid, record.tid}
                                     : Running{record.other_pid, record.other_tid}});
    }
    if (record.out) {
      if (record.tid != 0) {
        out.try_emplace(record.tid, Open{record.time_ns, record.preempted});
      }
      slots.push_back({record.time_ns, {record.other_pid, record.other_tid}});
      continue;
    }
    slots.push_back({record.time_ns, {record.pid, record.tid}});
    runs_from(record.tid, record.time_ns);
  }
  for (; name != names.end(); ++name) {
    if (name->exec) {
      runs_from(name->tid, name->time_ns);
      take_over(*name);
    }
  }
  for (const auto& [tid, open] : out) {
    off_[tid].push_back({open.since, UINT64_MAX, open.preempted});
  }
  for (auto& [tid, intervals] : off_) {
    std::ranges::stable_sort(intervals, {}, &OffCpuInterval::begin);
    OffCpu sum;
    for (OffCpuInterval& interval : intervals) {
      interval.before = sum;
      (interval.preempted ? sum.preempted_ns : sum.blocked_ns) += interval.end - interval.begin;
      ++sum.switches;
    }
  }
}

// A thread that calls execve and is not the first one continues with the id of its process on the
// same processor: all other threads of the process have ended by then.
void ContextSwitches::take_over(const ThreadName& name) {
  std::vector<Slot>* caller = nullptr;
  for (auto& [cpu, slots] : slots_) {
    const Running& last = slots.back().thread;
    if (last.tid == name.tid) {
      return;
    }
    caller = last.pid == name.pid ? &slots : caller;
  }
  if (caller != nullptr) {
    caller->push_back({name.time_ns, {name.pid, name.tid}});
  }
}

bool ContextSwitches::known() const {
  return known_;
}

OffCpu ContextSwitches::off_cpu(std::int32_t tid, std::uint64_t begin_ns,
                                std::uint64_t end_ns) const {
  OffCpuClock clock = off_cpu_clock(tid);
  return end_ns <= begin_ns ? OffCpu{} : clock.before(end_ns) - clock.before(begin_ns);
}

OffCpuClock ContextSwitches::off_cpu_clock(std::int32_t tid) const {
  return OffCpuClock(intervals(tid));
}

std::span<const OffCpuInterval> ContextSwitches::intervals(std::int32_t tid) const {
  const auto found = off_.find(tid);
  return found == off_.end() ? std::span<const OffCpuInterval>{} : found->second;
}

std::vector<std::int32_t> ContextSwitches::threads() const {
  std::vector<std::int32_t> tids;
  for (const auto& [tid, intervals] : off_) {
    tids.push_back(tid);
  }
  return tids;
}

OffCpu OffCpuClock::find(std::uint64_t time_ns) {
  const auto next = std::ranges::lower_bound(intervals_, time_ns, {}, &OffCpuInterval::begin);
  if (next == intervals_.begin()) {
    from_ = 0;
    to_ = next == intervals_.end() ? UINT64_MAX : next->begin;
    sum_ = {};
    return sum_;
  }
  const OffCpuInterval& last = *std::prev(next);
  OffCpu sum = last.before;
  (last.preempted ? sum.preempted_ns : sum.blocked_ns) += std::min(last.end, time_ns) - last.begin;
  ++sum.switches;
  if (last.end <= time_ns) {
    from_ = last.end;
    to_ = next == intervals_.end() ? UINT64_MAX : next->begin;
    sum_ = sum;
  }
  return sum;
}

Running ContextSwitches::running(std::int32_t cpu, std::uint64_t time_ns) const {
  const auto found = slots_.find(cpu);
  if (found == slots_.end()) {
    return {};
  }
  const auto& slots = found->second;
  auto slot = std::ranges::upper_bound(slots, time_ns, {}, &Slot::begin);
  if (slot != slots.begin()) {
    --slot;
  }
  while (slot != slots.end() && slot->thread.tid < 0) {
    ++slot;
  }
  return slot == slots.end() ? Running{} : slot->thread;
}

std::uint64_t ContextSwitches::running_until(std::int32_t cpu, std::uint64_t time_ns) const {
  const auto found = slots_.find(cpu);
  if (found == slots_.end()) {
    return 0;
  }
  const auto& slots = found->second;
  const auto next = std::ranges::upper_bound(slots, time_ns, {}, &Slot::begin);
  if (next == slots.begin() || std::prev(next)->thread.tid < 0) {
    return 0;
  }
  return next == slots.end() ? UINT64_MAX : next->begin;
}

std::vector<Running> ContextSwitches::threads_on(std::int32_t cpu) const {
  std::map<std::int32_t, Running> threads; // by tid
  if (const auto found = slots_.find(cpu); found != slots_.end()) {
    for (const Slot& slot : found->second) {
      threads.emplace(slot.thread.tid, slot.thread);
    }
  }
  std::vector<Running> each;
  for (const auto& [tid, thread] : threads) {
    each.push_back(thread);
  }
  return each;
}

std::uint64_t ContextSwitches::agrees_before(const ContextSwitches& other, std::int32_t cpu) const {
  const auto found = slots_.find(cpu);
  const auto others = other.slots_.find(cpu);
  if (found == slots_.end() || others == other.slots_.end()) {
    return found == slots_.end() && others == other.slots_.end() ? UINT64_MAX : 0;
  }
  const auto [own, theirs] = std::ranges::mismatch(found->second, others->second);
  std::uint64_t before = UINT64_MAX;
  before = own == found->second.end() ? before : std::min(before, own->begin);
  before = theirs == others->second.end() ? before : std::min(before, theirs->begin);
  // Where no thread ran, the answer is the next one, which may be another one there.
  for (auto last = own; last != found->second.begin() && std::prev(last)->thread.tid < 0; --last) {
    before = std::min(before, std::prev(last)->begin);
  }
  return before;
}

} // namespace ptlens::perfdata
