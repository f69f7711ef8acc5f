// The order of things among threads and processors.
#include "stepping/stepper.hpp"

#include "stepping/system_calls.hpp"
#include "stepping/threads.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace ptlens::ptsim {
namespace {

// Kernel work, core cycles.
constexpr std::uint64_t switch_cycles = 900;    // from one thread to the next
constexpr std::uint64_t switch_in_cycles = 200; // from the trace's start to the switch record
constexpr std::uint64_t to_user_cycles = 2500;  // from there to user code
constexpr std::uint64_t wake_up_ns = 5000;      // a timer's, on top of the time asked for
constexpr std::uint64_t steps_between_wake_ups = 64;
constexpr std::uint64_t untraced_one_in = 4; // preemptions with nobody ready
constexpr std::uint64_t shortest_untraced_ns = 2000;
constexpr std::uint64_t longest_untraced_ns = 40'000;
constexpr std::size_t round_bytes = 1 << 20;
constexpr std::uint64_t for_ever = ~std::uint64_t{0};

// A kernel thread: never traced, but it needs a processor now and then.
constexpr Task untraced_task{13, 13};

std::uint64_t real_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

} // namespace

Stepper::Stepper(const StepperConfig& config, const Recorder& recorder)
    : config_(config), recorder_(recorder), random_(config.seed) {
  for (std::uint32_t cpu = 0; cpu < config.processors; ++cpu) {
    processors_.push_back(std::make_unique<Processor>(cpu, config.rates, config.start_ns));
  }
  for (std::size_t lane = 0; lane < config.lanes.size(); ++lane) {
    const std::int32_t cpu = config.lanes[lane].cpu;
    Processor& processor = *processors_[cpu < 0 ? 0 : static_cast<std::size_t>(cpu)];
    auto channel = std::make_unique<TraceChannel>(config.trace, config.aux, lane, processor.clock,
                                                  *recorder.file);
    if (recorder.per_thread) {
      thread_channels_.push_back(std::move(channel));
    } else {
      channel->disable_until(config.lanes[lane].traced ? 0 : for_ever);
      processor.channel = std::move(channel);
    }
  }
}

TraceChannel* Stepper::channel_of(pid_t tid) const {
  const auto lane = std::ranges::find(config_.lanes, tid, &Lane::tid);
  return recorder_.per_thread && lane != config_.lanes.end()
             ? thread_channels_[static_cast<std::size_t>(lane - config_.lanes.begin())].get()
             : nullptr;
}

std::size_t Stepper::first_recorded() const {
  return static_cast<std::size_t>(std::ranges::find(config_.lanes, true, &Lane::recorded) -
                                  config_.lanes.begin());
}

std::uint64_t Stepper::drawn(std::uint64_t low, std::uint64_t high) {
  return low + random_() % (high - low);
}

std::uint64_t Stepper::slice() {
  return config_.slice_cycles == 0
             ? 0
             : processors_.front()->clock.units_of(drawn(1, 2 * config_.slice_cycles));
}

std::uint64_t Stepper::units(std::uint64_t nanoseconds) const {
  return config_.rates.ticks(nanoseconds) * config_.rates.core_ratio;
}

std::uint64_t Stepper::ns() const {
  return processors_.front()->clock.ns_at(now_);
}

Result<void> Stepper::add(std::shared_ptr<Process> process, std::unique_ptr<Tracee> tracee,
                          const Introduction& introduction) {
  pass_idle_time();
  const pid_t tid = tracee->tid();
  TraceChannel* own = channel_of(tid);
  auto thread =
      std::make_unique<TracedThread>(recorder_, std::move(process), std::move(tracee), tid, own);
  const Stamp stamp{own == nullptr ? first_recorded() : own->lane(), introduction.ns,
                    thread->task(), 0};
  thread->record_name(stamp, introduction.exec);
  if (auto recorded = thread->record_mappings(stamp); !recorded) {
    return recorded;
  }
  return begin(std::move(thread));
}

Result<void> Stepper::begin(std::unique_ptr<TracedThread> thread) {
  const auto begun = thread->begin(ns());
  if (!begun) {
    return std::unexpected(begun.error());
  }
  auto entry = std::make_unique<Entry>();
  entry->thread = std::move(thread);
  entry->ready_at = now_;
  entry->state = *begun == Turn::waits ? State::waiting : State::ready;
  entries_.push_back(std::move(entry));
  return {};
}

Stepper::Entry& Stepper::entry_of(const TracedThread& thread) {
  return **std::ranges::find_if(entries_,
                                [&](const auto& entry) { return entry->thread.get() == &thread; });
}

Result<Stepper::Progress> Stepper::turn() {
  if (std::exchange(may_have_woken_, false) || steps_ % steps_between_wake_ups == 0) {
    reap();
    look_for_woken();
  }
  if (entries_.empty()) {
    reap();
    return Progress::all_ended;
  }
  const Choice choice = choose();
  if (choice.what == Choice::What::nothing || choice.what == Choice::What::await) {
    if (!idle_since_) {
      idle_since_ = real_ns();
    }
    reap();
    return look_for_woken() ? Progress::switched : Progress::waiting;
  }
  idle_since_.reset();
  now_ = std::max(now_, choice.at);
  Result<void> done;
  switch (choice.what) {
  case Choice::What::step: {
    Entry& entry = entry_of(*choice.processor->thread);
    ++steps_;
    last_ = entry.thread.get();
    done = run(*choice.processor, entry, entry.thread->step());
    return done ? Result<Progress>(Progress::stepped) : std::unexpected(done.error());
  }
  case Choice::What::give_up:
    choice.processor->clock.pass_until(choice.at);
    choice.processor->busy_until = 0;
    done = next_on(*choice.processor, false);
    break;
  default:
    done = take_up(choice.at);
    break;
  }
  return done ? Result<Progress>(Progress::switched) : std::unexpected(done.error());
}

Stepper::Choice Stepper::choose() const {
  Choice best;
  const auto consider = [&](Choice::What what, std::uint64_t at, Processor* processor) {
    if (at < best.at) {
      best = {what, at, processor};
    }
  };
  std::uint64_t idle = ~std::uint64_t{0}; // clock of the idle processor furthest behind
  for (const auto& processor : processors_) {
    if (processor->thread != nullptr) {
      consider(Choice::What::step, processor->clock.units(), processor.get());
    } else if (processor->busy_until != 0) {
      consider(Choice::What::give_up, processor->busy_until, processor.get());
    } else {
      idle = std::min(idle, processor->clock.units());
    }
  }
  for (const auto& entry : entries_) {
    if (entry->state == State::ready && idle != ~std::uint64_t{0}) {
      consider(Choice::What::take_up, std::max(idle, entry->ready_at), nullptr);
    } else if (entry->state == State::waiting && entry->sleeps) {
      consider(Choice::What::await, entry->ready_at, nullptr);
    }
  }
  return best;
}

Stepper::Entry* Stepper::ready_by(std::uint64_t units) {
  std::vector<Entry*> ready;
  for (const auto& entry : entries_) {
    if (entry->state == State::ready && entry->ready_at <= units) {
      ready.push_back(entry.get());
    }
  }
  return ready.empty() ? nullptr : ready[drawn(0, ready.size())];
}

// A thread that is ready by then, on an idle processor: mostly the one where it ran before.
Result<void> Stepper::take_up(std::uint64_t at) {
  Entry* entry = ready_by(at);
  std::vector<Processor*> idle;
  for (const auto& processor : processors_) {
    if (processor->thread == nullptr && processor->busy_until == 0) {
      idle.push_back(processor.get());
    }
  }
  const auto before = std::ranges::find(idle, entry->last_processor, &Processor::number);
  Processor& processor =
      before != idle.end() && drawn(0, 4) != 0 ? **before : *idle[drawn(0, idle.size())];
  processor.clock.pass_until(at);
  return take_up(processor, *entry);
}

Result<void> Stepper::take_up(Processor& processor, Entry& entry) {
  occupy(processor, entry.thread.get(), entry.thread->task(), false);
  return entry.woke ? run(processor, entry, entry.thread->after_waiting()) : Result<void>{};
}

// Whatever the processor did is over: a thread that is ready, or nothing.
Result<void> Stepper::next_on(Processor& processor, bool preempted) {
  if (Entry* next = ready_by(processor.clock.units())) {
    occupy(processor, next->thread.get(), next->thread->task(), preempted);
    return next->woke ? run(processor, *next, next->thread->after_waiting()) : Result<void>{};
  }
  occupy(processor, nullptr, idle_task, preempted);
  return {};
}

// What follows from a step, or from the end of a wait.
Result<void> Stepper::run(Processor& processor, Entry& entry, Result<Turn> turn) {
  entry.woke = false;
  if (!turn) {
    return std::unexpected(turn.error());
  }
  TracedThread& thread = *entry.thread;
  now_ = std::max(now_, processor.clock.units());
  may_have_woken_ = may_have_woken_ || thread.was_in_kernel();
  if (auto adopted = adopt_children(thread); !adopted) {
    return adopted;
  }
  switch (*turn) {
  case Turn::went_on:
    break;
  case Turn::waits:
    entry.state = State::waiting;
    entry.sleeps = thread.sleep_ns().has_value();
    entry.ready_at = processor.clock.units() +
                     units(thread.sleep_ns().value_or(0) * config_.wait_scale + wake_up_ns);
    return next_on(processor, false);
  case Turn::ended:
    thread_ended(processor, entry);
    return next_on(processor, false);
  }
  TraceChannel& channel = thread.channel();
  channel.aux().wrap();
  if (channel.aux().half_full()) {
    thread.stop_hardware(0);
    empty_buffers();
    thread.start_hardware();
  } else if (recorder_.file->pending() >= round_bytes) {
    empty_buffers();
  }
  return maybe_preempt(processor, entry);
}

Result<void> Stepper::maybe_preempt(Processor& processor, Entry& entry) {
  const std::uint64_t now = processor.clock.units();
  if (config_.slice_cycles == 0 || now < processor.slice_end) {
    return {};
  }
  const bool somebody = ready_by(now) != nullptr;
  if (!somebody && drawn(0, untraced_one_in) != 0) {
    processor.slice_end = now + slice();
    return {};
  }
  entry.thread->preempt();
  if (somebody) {
    Entry* next = ready_by(now);
    entry.state = State::ready;
    entry.ready_at = processor.clock.units();
    occupy(processor, next->thread.get(), next->thread->task(), true);
    return next->woke ? run(processor, *next, next->thread->after_waiting()) : Result<void>{};
  }
  entry.state = State::ready;
  entry.ready_at = processor.clock.units();
  occupy(processor, nullptr, untraced_task, true);
  processor.busy_until =
      processor.clock.units() + units(drawn(shortest_untraced_ns, longest_untraced_ns));
  return {};
}

// The switch itself, in the kernel's order: the record of who leaves, the trace's end, the trace's
// start, the record of who comes. Where the next thread has inherited the same event the kernel
// swaps their contexts instead (perf_event_context_sched_out), and the trace goes on; so it does
// where the event is the processor's.
void Stepper::occupy(Processor& processor, TracedThread* next, Task task, bool preempted) {
  const Task previous = processor.occupant;
  bool goes_on = false;
  if (TracedThread* leaving = processor.thread) {
    const Stamp stamp = leaving->stamp();
    if (!recorder_.loses_record(stamp, "switch")) {
      recorder_.file->switch_out(stamp, task, preempted);
    }
    goes_on = next != nullptr && !recorder_.per_thread &&
              (recorder_.system_wide || next->root() == leaving->root());
    leaving->switched_out();
    if (goes_on) {
      processor.channel->unit().run_kernel(switch_cycles);
    } else {
      leaving->stop_hardware(0);
    }
    entry_of(*leaving).last_processor = processor.number;
    leaving->leave_processor();
  } else if (recorder_.cpu_wide_switches) {
    const Stamp stamp{processor.channel->lane(), processor.clock.ns(), previous, processor.number};
    recorder_.file->switch_out(stamp, task, preempted);
  }
  if (!goes_on) {
    processor.clock.run(switch_cycles);
  }
  processor.thread = next;
  processor.occupant = task;
  if (next == nullptr) {
    if (recorder_.cpu_wide_switches) {
      const Stamp stamp{processor.channel->lane(), processor.clock.ns(), task, processor.number};
      recorder_.file->switch_in(stamp, previous);
    }
    return;
  }
  next->come_to(processor);
  entry_of(*next).state = State::running;
  if (!goes_on) {
    next->start_hardware();
    announce(*next);
  }
  TraceUnit& unit = next->channel().unit();
  unit.filter(next->process()->filtered());
  unit.run_kernel(switch_in_cycles);
  const Stamp stamp = next->stamp();
  if (!recorder_.loses_record(stamp, "switch")) {
    recorder_.file->switch_in(stamp, previous);
  }
  next->switched_in();
  unit.run_kernel(to_user_cycles);
  processor.slice_end = processor.clock.units() + slice();
}

void Stepper::announce(const TracedThread& thread) {
  const pid_t of = recorder_.system_wide ? -1 : thread.root();
  if (thread.channel().disabled_until() != for_ever &&
      announced_.emplace(thread.channel().lane(), of).second) {
    recorder_.file->trace_start(thread.stamp());
  }
}

Result<void> Stepper::adopt_children(TracedThread& parent) {
  for (const pid_t child : parent.tracee().take_children()) {
    const pid_t pid = process_of(child).value_or(child);
    recorder_.file->fork(parent.stamp(), {pid, child});
    if (!config_.inherit) {
      fmt::print(stderr, "ptsim: {} made {}, which runs untraced\n", parent.task().tid, child);
      let_child_go(child, parent.tracee().cpus());
      continue;
    }
    auto tracee = std::make_unique<Tracee>(Tracee::adopt(child, parent.tracee().cpus()));
    auto process = pid == parent.task().pid ? parent.process()
                                            : std::make_shared<Process>(pid, *parent.process());
    auto added = begin(std::make_unique<TracedThread>(recorder_, std::move(process),
                                                      std::move(tracee), parent.root(), nullptr));
    if (!added && added.error().kind != Error::Kind::gone) {
      return added;
    }
  }
  return {};
}

void Stepper::thread_ended(Processor& processor, Entry& entry) {
  TracedThread& thread = *entry.thread;
  thread.end(true, 0);
  // What leaves the processor now is no longer a task with an id, unless its parent is to ask.
  const Task task = thread.task();
  processor.occupant = task.pid == task.tid ? task : Task{-1, -1};
  processor.thread = nullptr;
  thread.leave_processor();
  calls_ += thread.calls();
  last_ = nullptr;
  thread.tracee().let_end();
  dying_.push_back(std::move(entry.thread));
  std::erase_if(entries_, [](const auto& each) { return each->thread == nullptr; });
}

// Threads that are gone are forgotten; the last of a process has its exit status. Where another
// thread's execve has taken the first one's place, that goes on with the new program.
void Stepper::reap() {
  for (auto& thread : dying_) {
    const auto stop = thread->tracee().poll();
    if (stop && stop->kind == StopKind::replaced) {
      const auto heir = std::ranges::find_if(
          entries_, [&](const auto& entry) { return entry->thread->task().tid == stop->former; });
      if (heir != entries_.end()) {
        (*heir)->thread->take_over(*thread, *stop);
        thread.reset();
      }
    } else if (thread->tracee().is_gone()) {
      exit_statuses_.emplace_back(thread->task().tid, thread->tracee().exit_status().value_or(0));
      thread.reset();
    }
  }
  std::erase(dying_, nullptr);
}

std::optional<int> Stepper::exit_status(pid_t tid) const {
  const auto found = std::ranges::find(exit_statuses_, tid, &std::pair<pid_t, int>::first);
  return found == exit_statuses_.end() ? std::nullopt : std::optional(found->second);
}

// Real time in which no thread ran is simulated time, up to when a sleeping thread goes on.
void Stepper::pass_idle_time() {
  if (!idle_since_) {
    return;
  }
  const std::uint64_t real = real_ns();
  std::uint64_t end = now_ + units((real - *idle_since_) * config_.wait_scale);
  for (const auto& entry : entries_) {
    if (entry->state == State::waiting && entry->sleeps) {
      end = std::min(end, std::max(now_, entry->ready_at));
    }
  }
  now_ = end;
  idle_since_ = real;
}

bool Stepper::look_for_woken() {
  bool any = false;
  for (const auto& entry : entries_) {
    if (entry->state != State::waiting || !entry->thread->woken()) {
      continue;
    }
    if (!entry->sleeps || !entry->thread->slept_well()) {
      pass_idle_time();
      entry->ready_at = now_;
    }
    entry->state = State::ready;
    entry->sleeps = false;
    entry->woke = true;
    any = true;
  }
  return any;
}

void Stepper::empty_buffers() {
  const std::uint64_t tsc = processors_.front()->clock.tsc_at(now_);
  for (const auto& processor : processors_) {
    if (processor->channel) {
      processor->channel->aux().read(processor->channel->lane(), tsc);
    }
  }
  for (const auto& channel : thread_channels_) {
    channel->aux().read(channel->lane(), tsc);
  }
  recorder_.file->finish_round();
}

std::uint64_t Stepper::trace_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& processor : processors_) {
    bytes += processor->channel ? processor->channel->bytes() : 0;
  }
  for (const auto& channel : thread_channels_) {
    bytes += channel->bytes();
  }
  return bytes;
}

void Stepper::take_snapshot() {
  const std::uint64_t tsc = processors_.front()->clock.tsc_at(now_);
  for (const auto& processor : processors_) {
    if (processor->thread != nullptr) {
      processor->thread->stop_hardware(0);
    }
  }
  for (const auto& processor : processors_) {
    if (processor->channel) {
      processor->channel->aux().snapshot(processor->channel->lane(), tsc);
    }
  }
  for (const auto& channel : thread_channels_) {
    channel->aux().snapshot(channel->lane(), tsc);
  }
  recorder_.file->finish_round();
  for (const auto& processor : processors_) {
    if (processor->thread != nullptr) {
      processor->thread->start_hardware();
    }
  }
}

void Stepper::stop() {
  for (const auto& entry : entries_) {
    entry->thread->end(false, ns());
    calls_ += entry->thread->calls();
    entry->thread->leave_processor();
    entry->thread->tracee().detach();
  }
  for (const auto& processor : processors_) {
    processor->thread = nullptr;
    processor->busy_until = 0;
    processor->occupant = idle_task;
  }
  last_ = nullptr;
  entries_.clear();
  empty_buffers();
  idle_since_ = real_ns();
}

} // namespace ptlens::ptsim
