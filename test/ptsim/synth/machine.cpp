// Scheduler and kernel.
#include "synth/machine.hpp"

#include <algorithm>
#include <linux/perf_event.h>
#include <string>
#include <utility>

namespace ptlens::ptsim::synth {
namespace {

constexpr std::size_t round_bytes = 16 << 20;
constexpr std::uint64_t largest_step = 1 << 18; // bytes of trace between two looks at the limits
constexpr std::size_t handler_count = 3;
constexpr double blocking = 0.1;    // probability that a system call waits
constexpr double exits = 0.3;       // probability that a thread ends with the trace
constexpr double mean_wait = 40;    // us
constexpr double mean_overflow = 3; // us
constexpr double longest_overflow = 40;
constexpr double mean_full_buffer = 12;

std::string worker_name(std::size_t thread) {
  return "worker-" + std::to_string(thread);
}

} // namespace

Machine::Lane::Lane(const SynthOptions& options, Clock& clock, PerfDataWriter& file,
                    std::size_t number)
    : unit(options.trace, clock, packets), aux(packets, file, options.aux_bytes), index(number),
      fault_at(options.faults.size(), never) {}

Machine::Machine(const SynthOptions& options, const Process& process, const Behaviour& behaviour,
                 const Clock& clock, const WalkerConfig& walk, Task main, PerfDataWriter& file,
                 const std::vector<CallSink*>& sinks, std::ostream* branches)
    : options_(&options), file_(&file), random_(options.seed) {
  for (std::uint32_t cpu = 0; cpu < options.cpus; ++cpu) {
    processors_.push_back(std::make_unique<Processor>(clock, cpu));
    processors_.back()->next_interrupt = time_around(options.interrupts);
  }
  const std::size_t lanes = options.per_thread ? options.threads : options.cpus;
  for (std::size_t index = 0; index < lanes; ++index) {
    Clock& of = processors_[options.per_thread ? 0 : index]->clock;
    lanes_.push_back(std::make_unique<Lane>(options, of, file, index));
    for (std::size_t fault = 0; fault < options.faults.size(); ++fault) {
      next_fault(*lanes_.back(), fault);
    }
    if (walk.filter) {
      lanes_.back()->unit.filter(walk.filter->begin, walk.filter->end);
    }
  }
  const auto usable = process.graph().usable();
  for (std::size_t count = 0; count < handler_count; ++count) {
    handlers_.push_back(usable[random_.below(usable.size())]);
  }
  make_threads(process, behaviour, walk, main, sinks, branches);
}

void Machine::make_threads(const Process& process, const Behaviour& behaviour,
                           const WalkerConfig& walk, Task main, const std::vector<CallSink*>& sinks,
                           std::ostream* branches) {
  for (std::size_t index = 0; index < options_->threads; ++index) {
    const Task task{main.pid, main.tid + static_cast<pid_t>(index)};
    threads_.push_back(std::make_unique<Thread>(task, index, sinks));
    Thread& thread = *threads_.back();
    if (branches != nullptr) {
      thread.log.emplace(branches, task.tid);
    }
    thread.walker.emplace(process, behaviour, walk, thread.stack,
                          thread.log ? &*thread.log : nullptr, random_.next());
    thread.late = !options_->per_thread && index != 0 && random_.chance(0.3);
    if (thread.late) {
      thread.ready_at = time_around(2 * options_->slice);
    } else if (index != 0) {
      file_->comm({0, 0, task, 0}, worker_name(index), false);
    }
  }
}

std::uint64_t Machine::units_of_ns(std::uint64_t ns) const {
  const ClockRates& rates = processors_.front()->clock.rates();
  return ns * (rates.tsc_hz() / 1'000'000) / 1000 * rates.core_ratio;
}

std::uint64_t Machine::time_around(double microseconds) {
  const auto ns = static_cast<std::uint64_t>(microseconds * 1000);
  return units_of_ns(random_.between(ns / 4, ns + ns * 3 / 4));
}

Machine::Lane& Machine::lane_of(const Processor& processor, const Thread& thread) {
  return *lanes_[options_->per_thread ? thread.index : processor.cpu];
}

Stamp Machine::stamp(Lane& lane, const Processor& processor, Task task) {
  lane.last_ns = std::max(lane.last_ns, processor.clock.ns());
  return {lane.index, lane.last_ns, task, processor.cpu};
}

std::uint64_t Machine::trace_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& lane : lanes_) {
    bytes += lane->packets.total();
  }
  return bytes;
}

std::uint64_t Machine::calls() const {
  std::uint64_t calls = 0;
  for (const auto& thread : threads_) {
    calls += thread->stack.ended();
  }
  return calls;
}

bool Machine::limit_reached() const {
  return trace_bytes() >= options_->bytes || (options_->calls != 0 && calls() >= options_->calls);
}

void Machine::next_fault(Lane& lane, std::size_t fault) {
  const Fault& of = options_->faults[fault];
  const std::uint64_t now = of.kind == FaultKind::lost_records ? 0 : lane.packets.total();
  lane.fault_at[fault] = now + random_.between(of.every / 2, of.every + of.every / 2);
}

Result<void> Machine::run() {
  if (!start_threads()) {
    return std::unexpected(Error{.kind = Error::Kind::bad_input,
                                 .message = "no function has a loop that calls",
                                 .remedy = "name more binaries, or more --functions"});
  }
  while (!limit_reached() && advance()) {
    if (file_->pending() >= round_bytes) {
      end_round();
    }
  }
  end();
  return {};
}

bool Machine::start_threads() {
  for (const auto& thread : threads_) {
    if (!thread->walker->begin(thread->ready_at)) {
      return false;
    }
  }
  return true;
}

std::uint64_t Machine::earliest_ready() const {
  std::uint64_t earliest = never;
  for (const auto& thread : threads_) {
    earliest = std::min(earliest, thread->ready_at);
  }
  return earliest;
}

// One of the threads that wait for a processor at that time.
Machine::Thread* Machine::next_ready(std::uint64_t time) {
  Thread* chosen = nullptr;
  std::uint64_t seen = 0;
  for (const auto& thread : threads_) {
    if (thread->ready_at <= time && random_.below(++seen) == 0) {
      chosen = thread.get();
    }
  }
  return chosen;
}

// The next event of the machine; false where nothing can happen any more.
bool Machine::advance() {
  const std::uint64_t ready = earliest_ready();
  Processor* first = nullptr;
  std::uint64_t first_time = never;
  for (const auto& processor : processors_) {
    const std::uint64_t time = processor->thread != nullptr || ready == never
                                   ? processor->clock.units()
                                   : std::max(processor->clock.units(), ready);
    if ((processor->thread != nullptr || ready != never) && time < first_time) {
      first = processor.get();
      first_time = time;
    }
  }
  if (first == nullptr) {
    return false;
  }
  if (first->thread != nullptr) {
    step(*first);
    return true;
  }
  first->clock.pass_until(first_time);
  switch_in(*first, *next_ready(first_time));
  return true;
}

void Machine::step(Processor& processor) {
  Thread& thread = *processor.thread;
  Lane& lane = lane_of(processor, thread);
  std::uint64_t until = std::min(processor.slice_end, processor.next_interrupt);
  const std::uint64_t all = trace_bytes();
  const std::uint64_t left = options_->bytes > all ? options_->bytes - all : 0;
  std::uint64_t bytes = lane.packets.total() + std::min(left, largest_step);
  if (processor.losing) {
    until = std::min(until, processor.losing_until);
  } else {
    for (std::size_t fault = 0; fault < options_->faults.size(); ++fault) {
      if (options_->faults[fault].kind != FaultKind::lost_records) {
        bytes = std::min(bytes, lane.fault_at[fault]);
      }
    }
  }
  switch (thread.walker->run(until, bytes)) {
  case Walker::Stop::time:
    at_time(processor);
    break;
  case Walker::Stop::bytes:
    at_bytes(processor);
    break;
  case Walker::Stop::system_call:
    system_call(processor);
    break;
  }
  if (lane.aux.half_full()) {
    lane.aux.flush(stamp(lane, processor, thread.task), processor.clock.tsc());
  }
}

void Machine::at_bytes(Processor& processor) {
  Lane& lane = lane_of(processor, *processor.thread);
  if (processor.losing || !lane.unit.sending() || processor.thread->walker->in_stub()) {
    return;
  }
  for (std::size_t fault = 0; fault < options_->faults.size(); ++fault) {
    const FaultKind kind = options_->faults[fault].kind;
    if (kind == FaultKind::lost_records || lane.packets.total() < lane.fault_at[fault]) {
      continue;
    }
    if (kind != FaultKind::cut || processor.thread->walker->decides_next()) {
      next_fault(lane, fault);
      lose(processor, kind);
      return;
    }
  }
}

// Everything up to the last branch is in the trace, nothing from here on.
void Machine::lose(Processor& processor, FaultKind kind) {
  Thread& thread = *processor.thread;
  Lane& lane = lane_of(processor, thread);
  lane.unit.flush();
  const std::uint64_t now = processor.clock.units();
  switch (kind) {
  case FaultKind::overflow: {
    lane.unit.overflow();
    const std::uint64_t longest = units_of_ns(static_cast<std::uint64_t>(longest_overflow * 1000));
    processor.losing_until = now + std::min(time_around(mean_overflow), longest);
    break;
  }
  case FaultKind::truncated:
  case FaultKind::cut:
    lane.unit.stop_short();
    if (kind == FaultKind::cut) {
      lane.packets.ip(IpPacket::tip, random_.next() >> 17U);
      lane.packets.cut(random_.between(1, 2));
    }
    lane.aux.hardware_stopped(stamp(lane, processor, thread.task), PERF_AUX_FLAG_TRUNCATED);
    processor.losing_until = now + time_around(mean_full_buffer);
    break;
  case FaultKind::no_pgd:
    lane.unit.stop_short();
    thread.last = now;
    lane.unit.run_kernel(random_.between(1000, 4000));
    lane.aux.hardware_stopped(stamp(lane, processor, thread.task));
    thread.walker->begin_loss(word(kind));
    switch_out(processor, true);
    return;
  case FaultKind::lost_records:
    return;
  }
  processor.losing = kind;
  thread.walker->begin_loss(word(kind));
}

void Machine::find_again(Processor& processor) {
  Thread& thread = *processor.thread;
  Lane& lane = lane_of(processor, thread);
  if (*processor.losing == FaultKind::overflow) {
    processor.losing.reset();
    thread.walker->end_loss();
    lane.unit.recover(thread.walker->ip());
    if (thread.log) {
      thread.log->line(0, thread.walker->ip(), "on");
    }
    return;
  }
  // perf has read the buffer: the kernel turns the hardware on again in an interrupt.
  thread.walker->interrupt();
  lane.unit.trigger_on();
  lane.unit.run_kernel(random_.between(300, 3000));
  resume(processor);
}

void Machine::at_time(Processor& processor) {
  const std::uint64_t now = processor.clock.units();
  if (processor.losing && now >= processor.losing_until) {
    find_again(processor);
    return;
  }
  if (now >= processor.slice_end) {
    processor.slice_end = now + time_around(options_->slice);
    interrupt(processor);
    if (next_ready(now) != nullptr) {
      switch_out(processor, true);
      return;
    }
  } else if (now >= processor.next_interrupt) {
    interrupt(processor);
    const FunctionId handler = handlers_[random_.below(handlers_.size())];
    Walker& walker = *processor.thread->walker;
    if (options_->signals > 0 && random_.chance(options_->signals) &&
        !processor.thread->stack.in_loss()) {
      static_cast<void>(walker.deliver_signal(handler));
    }
  } else {
    return;
  }
  resume(processor);
}

void Machine::interrupt(Processor& processor) {
  Thread& thread = *processor.thread;
  thread.last = processor.clock.units();
  if (!options_->kernel.empty()) {
    thread.walker->interrupt_through_kernel();
    processor.next_interrupt = processor.clock.units() + time_around(options_->interrupts);
    return;
  }
  thread.walker->interrupt();
  lane_of(processor, thread).unit.run_kernel(random_.between(1500, 6000));
  processor.next_interrupt = processor.clock.units() + time_around(options_->interrupts);
}

void Machine::system_call(Processor& processor) {
  Thread& thread = *processor.thread;
  thread.last = processor.clock.units();
  lane_of(processor, thread).unit.run_kernel(random_.between(150, 3000));
  if (random_.chance(blocking)) {
    switch_out(processor, false);
    thread.ready_at = processor.clock.units() + time_around(mean_wait);
    return;
  }
  resume(processor);
}

void Machine::resume(Processor& processor) {
  Thread& thread = *processor.thread;
  const TraceUnit& unit = lane_of(processor, thread).unit;
  if (thread.stack.in_loss() && unit.triggered() && !unit.lost()) {
    processor.losing.reset();
    thread.walker->end_loss();
  }
  thread.walker->enter_user();
}

void Machine::announce(Processor& processor, Thread& thread) {
  Lane& lane = lane_of(processor, thread);
  if (thread.late) {
    file_->fork(stamp(lane, processor, threads_.front()->task), thread.task);
    file_->comm(stamp(lane, processor, thread.task), worker_name(thread.index), false);
  }
  file_->trace_start(stamp(lane, processor, thread.task));
}

void Machine::switch_in(Processor& processor, Thread& thread) {
  Lane& lane = lane_of(processor, thread);
  if (thread.out_ns == 0) {
    announce(processor, thread);
  }
  processor.thread = &thread;
  thread.ready_at = never;
  thread.walker->sit({&processor.clock, &lane.unit, &lane.packets});
  lane.unit.move_to(processor.clock);
  if (processor.last_task == idle_task) {
    write_switch_out(processor, idle_task, thread.task, false);
  }
  lane.unit.run_kernel(random_.between(500, 2000));
  lane.unit.trigger_on();
  lane.unit.run_kernel(random_.between(100, 900));
  write_switch_in(processor, thread.task, processor.last_task);
  processor.last_task = thread.task;
  if (thread.out_ns != 0) {
    thread.stack.was_off_cpu(processor.clock.ns() - thread.out_ns);
  }
  lane.unit.run_kernel(random_.between(2500, 8000));
  processor.slice_end = processor.clock.units() + time_around(options_->slice);
  resume(processor);
}

// The thread has left user code. It can run again at once.
void Machine::switch_out(Processor& processor, bool preempted) {
  Thread& thread = *processor.thread;
  Thread* next = random_.chance(0.7) ? next_ready(processor.clock.units()) : nullptr;
  thread.ready_at = processor.clock.units();
  take_off(processor, next, preempted);
  if (next != nullptr) {
    switch_in(processor, *next);
  }
}

void Machine::take_off(Processor& processor, const Thread* next, bool preempted) {
  Thread& thread = *processor.thread;
  Lane& lane = lane_of(processor, thread);
  thread.out_ns = processor.clock.ns();
  write_switch_out(processor, thread.task, next == nullptr ? idle_task : next->task, preempted);
  if (!options_->system_wide) {
    lane.unit.trigger_off();
    lane.aux.hardware_stopped(stamp(lane, processor, thread.task));
  }
  processor.losing.reset();
  processor.thread = nullptr;
  if (next == nullptr) {
    write_switch_in(processor, idle_task, thread.task);
    processor.last_task = idle_task;
  }
}

// A switch record that is not to be written. The kernel says so with the next that it can write.
bool Machine::drop_switch(Lane& lane) {
  for (std::size_t fault = 0; fault < options_->faults.size(); ++fault) {
    if (options_->faults[fault].kind == FaultKind::lost_records && --lane.fault_at[fault] == 0) {
      next_fault(lane, fault);
      ++lane.missing_records;
      return true;
    }
  }
  return false;
}

Machine::Lane* Machine::lane_of_switch(const Processor& processor, Task task) {
  if (!options_->per_thread) {
    return lanes_[processor.cpu].get();
  }
  const auto thread = std::ranges::find(threads_, task, [](const auto& of) { return of->task; });
  return thread == threads_.end() ? nullptr : lanes_[(*thread)->index].get();
}

void Machine::write_switch_out(Processor& processor, Task task, Task next, bool preempted) {
  Lane* lane = lane_of_switch(processor, task);
  if (lane == nullptr || drop_switch(*lane)) {
    return;
  }
  note_missing(*lane, processor, task);
  file_->switch_out(stamp(*lane, processor, task), next, preempted);
}

void Machine::write_switch_in(Processor& processor, Task task, Task previous) {
  Lane* lane = lane_of_switch(processor, task);
  if (lane == nullptr || drop_switch(*lane)) {
    return;
  }
  note_missing(*lane, processor, task);
  file_->switch_in(stamp(*lane, processor, task), previous);
}

void Machine::note_missing(Lane& lane, Processor& processor, Task task) {
  if (lane.missing_records != 0) {
    file_->lost(stamp(lane, processor, task), std::exchange(lane.missing_records, 0));
  }
}

// What is written from now on is not older than anything in the round before the last.
void Machine::end_round() {
  std::uint64_t oldest = never;
  std::uint64_t newest = 0;
  for (const auto& processor : processors_) {
    newest = std::max(newest, processor->clock.units());
    if (processor->thread != nullptr) {
      oldest = std::min(oldest, processor->clock.units());
    }
  }
  if (std::min(oldest, std::max(newest, earliest_ready())) >= newest_of_round_) {
    newest_of_round_ = newest;
    file_->finish_round();
  }
}

void Machine::end() {
  for (const auto& processor : processors_) {
    if (processor->thread != nullptr) {
      end_thread(*processor);
    }
  }
  for (const auto& thread : threads_) {
    thread->stack.finish(false, thread->last);
  }
  for (const auto& lane : lanes_) {
    const Processor& processor = *processors_[options_->per_thread ? 0 : lane->index];
    const Task task = options_->per_thread ? threads_[lane->index]->task : processor.last_task;
    lane->aux.flush(stamp(*lane, processor, task), processor.clock.tsc());
  }
}

void Machine::end_thread(Processor& processor) {
  Thread& thread = *processor.thread;
  const bool exited = random_.chance(exits);
  interrupt(processor);
  thread.stack.finish(exited, thread.last);
  thread.ready_at = never;
  if (exited) {
    file_->exit(stamp(lane_of(processor, thread), processor, thread.task));
  }
  take_off(processor, nullptr, false);
}

} // namespace ptlens::ptsim::synth
