// What each step means.
#include "traced_thread.hpp"

#include "system_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace ptlens::ptsim {
namespace {

constexpr std::uint64_t syscall_cycles = 450; // kernel work for a system call that does not wait
constexpr std::uint64_t signal_cycles = 1800; // to build a signal frame
constexpr std::uint64_t switch_cycles = 700;  // of the kernel's work on each side of a switch
constexpr std::uint64_t execve_cycles = 400'000;
constexpr std::uint64_t shortest_wait_ns = 200'000; // below, a call that may wait did not
constexpr std::uint64_t syscall_length = 2;

std::uint64_t real_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

std::vector<std::byte> vdso_image(pid_t pid, const std::vector<Mapping>& mappings) {
  const auto vdso = std::ranges::find(mappings, "[vdso]", &Mapping::path);
  if (vdso == mappings.end()) {
    return {};
  }
  std::vector<std::byte> image(vdso->end - vdso->start);
  image.resize(read_memory(pid, vdso->start, image));
  return image;
}

} // namespace

TracedThread::TracedThread(const Recorder& recorder, const TraceUnitConfig& config,
                           std::uint64_t aux_bytes, pid_t pid, pid_t tid)
    : recorder_(recorder), pid_(pid), tid_(tid), unit_(config, *recorder.clock, packets_),
      aux_(packets_, *recorder.file, aux_bytes), code_(tid),
      truth_(*recorder.truth, *recorder.places, tid, recorder.clock->rates().tsc_hz()),
      branches_(recorder.branches, tid) {}

Stamp TracedThread::stamp() const {
  return {.time = recorder_.clock->ns(), .task = {pid_, tid_}};
}

void TracedThread::switch_out(bool preempted) {
  recorder_.file->switch_out(stamp(), idle_task, preempted);
  Stamp idle = stamp();
  idle.task = idle_task;
  recorder_.file->switch_in(idle, {pid_, tid_});
}

void TracedThread::switch_in() {
  Stamp idle = stamp();
  idle.task = idle_task;
  recorder_.file->switch_out(idle, {pid_, tid_}, false);
  recorder_.file->switch_in(stamp(), idle_task);
}

Moment TracedThread::now() const {
  return {recorder_.clock->ns(), off_cpu_ns_};
}

std::uint64_t TracedThread::word_at(std::uint64_t address) const {
  std::uint64_t word = 0;
  static_cast<void>(read_memory(tid_, address, std::as_writable_bytes(std::span(&word, 1))));
  return word;
}

// At a stop after an interrupted system call, the kernel has still to put the thread back before
// it.
std::uint64_t TracedThread::effective_ip() const {
  const bool restarts = !unit_.in_user() && registers_.original_ax != ~std::uint64_t{0} &&
                        asks_for_restart(registers_.ax);
  return restarts ? registers_.ip - syscall_length : registers_.ip;
}

Result<void> TracedThread::begin(const Tracee& tracee, std::uint64_t mappings_time) {
  auto registers = tracee.registers();
  if (!registers) {
    return std::unexpected(registers.error());
  }
  registers_ = *registers;
  if (auto updated = update_mappings(mappings_time); !updated) {
    return updated;
  }
  if (!announced_) {
    recorder_.file->trace_start(stamp());
    announced_ = true;
  }
  switch_in();
  unit_.trigger_on();
  unit_.run_kernel(switch_cycles);
  truth_.begin(effective_ip(), registers_.sp, word_at(registers_.sp), now());
  return {};
}

Result<void> TracedThread::update_mappings(std::uint64_t time) {
  auto mappings = executable_mappings(pid_);
  if (!mappings) {
    return std::unexpected(mappings.error());
  }
  if (*mappings == recorder_.places->mappings()) {
    return {};
  }
  const std::vector<Mapping> known = recorder_.places->mappings();
  recorder_.places->set_mappings(*mappings, vdso_image(tid_, *mappings));
  code_.forget();
  for (const Mapping& mapping : *mappings) {
    if (std::ranges::find(known, mapping) == known.end()) {
      Stamp at = stamp();
      at.time = time;
      recorder_.file->mapping(at, mapping, recorder_.places->symbols(mapping.path).build_id());
    }
  }
  return {};
}

Result<TracedThread::Current> TracedThread::current() {
  Current current;
  current.ip = effective_ip();
  auto instruction = code_.at(current.ip);
  if (!instruction) {
    return std::unexpected(instruction.error());
  }
  current.instruction = *instruction;
  if (current.instruction.flow == FlowKind::syscall) {
    current.system_call = current.ip == registers_.ip ? registers_.ax : registers_.original_ax;
    current.started_ns = real_ns();
  }
  return current;
}

Result<bool> TracedThread::step(Tracee& tracee, const std::function<bool()>& give_up) {
  // Where there is no instruction, the processor faults: a signal must come.
  auto current = this->current();
  const bool waits =
      current && current->instruction.flow == FlowKind::syscall && may_wait(current->system_call);
  auto kind = tracee.step(waits, give_up);
  if (!kind) {
    return std::unexpected(kind.error());
  }
  for (const pid_t child : tracee.take_children()) {
    recorder_.file->fork(stamp(), {pid_, child});
    fmt::print(stderr, "ptsim: {} made {}, which runs untraced\n", tid_, child);
  }
  ++steps_;
  Result<void> done;
  if (*kind == StepKind::left_kernel && current && current->instruction.flow != FlowKind::syscall) {
    return true; // stopped on the way out of the kernel, before the instruction
  }
  switch (*kind) {
  case StepKind::executed:
  case StepKind::left_kernel:
    done = current ? executed(tracee, *current) : std::unexpected(current.error());
    break;
  case StepKind::signalled:
    if (current && current->instruction.flow == FlowKind::trap) {
      resume_user(current->ip);
      leave_for_kernel(*current);
    }
    if (auto registers = tracee.registers()) {
      registers_ = *registers;
    }
    break;
  case StepKind::entered_handler:
    done = entered_handler(tracee);
    break;
  case StepKind::replaced:
    done = current ? replaced(tracee, *current) : std::unexpected(current.error());
    break;
  case StepKind::interrupted:
  case StepKind::ended:
    if (current && current->instruction.flow == FlowKind::syscall) {
      resume_user(current->ip);
      leave_for_kernel(*current);
      spend_time_in_kernel(*current);
    }
    return false;
  }
  if (!done && done.error().kind == Error::Kind::gone) {
    tracee.await_end();
    return false;
  }
  if (aux_.half_full()) {
    aux_.flush(stamp(), recorder_.clock->tsc());
    recorder_.file->finish_round();
  }
  return done ? Result<bool>(true) : std::unexpected(done.error());
}

void TracedThread::resume_user(std::uint64_t ip) {
  if (!unit_.in_user()) {
    unit_.enter_user(ip);
    branches_.on(ip);
  }
}

void TracedThread::leave_for_kernel(const Current& current) {
  unit_.retire(current.instruction, current.ip, 0);
  branches_.retire(current.instruction, current.ip, 0);
}

Result<void> TracedThread::executed(const Tracee& tracee, const Current& current) {
  auto registers = tracee.registers();
  if (!registers) {
    return std::unexpected(registers.error());
  }
  registers_ = *registers;
  const Instruction& instruction = current.instruction;
  const std::uint64_t next = registers_.ip;
  const std::uint64_t following = current.ip + instruction.length;
  const bool repeated = instruction.repeats && next == current.ip;
  if (instruction.flow == FlowKind::unsupported ||
      (instruction.flow == FlowKind::none && next != following && !repeated)) {
    return std::unexpected(
        Error{.kind = Error::Kind::unsupported,
              .message = fmt::format("the instruction at {:#x} led to {:#x}, which ptsim cannot "
                                     "simulate",
                                     current.ip, next)});
  }
  resume_user(current.ip);
  if (instruction.pushes_flags) {
    constexpr std::uint64_t trap_flag = 1 << 8; // the tracer's, not the program's
    tracee.write_word(registers_.sp, word_at(registers_.sp) & ~trap_flag);
  }
  if (instruction.flow != FlowKind::syscall) {
    unit_.retire(instruction, current.ip, next);
    branches_.retire(instruction, current.ip, next);
    truth_.retire(instruction, current.ip, next, registers_.sp, now());
    return {};
  }
  leave_for_kernel(current);
  spend_time_in_kernel(current);
  if (returns_from_handler(current.system_call)) {
    truth_.leave_handler(now());
  }
  return changes_mappings(current.system_call) ? update_mappings(recorder_.clock->ns())
                                               : Result<void>{};
}

void TracedThread::spend_time_in_kernel(const Current& current) {
  unit_.run_kernel(syscall_cycles);
  const std::uint64_t waited = real_ns() - current.started_ns;
  if (!sleeps(current.system_call) &&
      (!may_wait(current.system_call) || waited < shortest_wait_ns)) {
    return;
  }
  const std::uint64_t out_ns = recorder_.clock->ns();
  switch_out(false);
  unit_.trigger_off();
  aux_.hardware_stopped(stamp());
  recorder_.clock->pass(waited);
  const std::uint64_t in_ns = recorder_.clock->ns();
  off_cpu_ns_ += in_ns - out_ns;
  switch_in();
  unit_.trigger_on();
  unit_.run_kernel(switch_cycles);
}

Result<void> TracedThread::entered_handler(const Tracee& tracee) {
  auto registers = tracee.registers();
  if (!registers) {
    return std::unexpected(registers.error());
  }
  const std::uint64_t interrupted = effective_ip();
  const std::uint64_t interrupted_sp = registers_.sp;
  registers_ = *registers;
  if (unit_.in_user()) {
    unit_.interrupt(interrupted);
    branches_.interrupt(interrupted);
  }
  unit_.run_kernel(signal_cycles);
  truth_.enter_handler(registers_.ip, word_at(registers_.sp), registers_.sp, interrupted_sp, now());
  return {};
}

Result<void> TracedThread::replaced(const Tracee& tracee, const Current& current) {
  auto registers = tracee.registers();
  if (!registers) {
    return std::unexpected(registers.error());
  }
  registers_ = *registers;
  resume_user(current.ip);
  leave_for_kernel(current);
  truth_.finish(true, now());
  unit_.run_kernel(execve_cycles);
  recorder_.file->comm(stamp(), thread_name(tid_), true);
  recorder_.places->set_mappings({}, {});
  if (auto updated = update_mappings(recorder_.clock->ns()); !updated) {
    return updated;
  }
  truth_.begin(registers_.ip, registers_.sp, word_at(registers_.sp), now());
  return {};
}

void TracedThread::end(bool ended) {
  if (unit_.in_user()) {
    unit_.interrupt(effective_ip());
    branches_.off(effective_ip());
  }
  truth_.finish(ended, now());
  unit_.run_kernel(switch_cycles);
  switch_out(!ended);
  unit_.trigger_off();
  aux_.flush(stamp(), recorder_.clock->tsc());
  recorder_.file->finish_round();
  if (ended) {
    recorder_.file->exit(stamp());
  }
}

} // namespace ptlens::ptsim
