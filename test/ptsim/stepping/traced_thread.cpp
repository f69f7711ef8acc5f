// What each step means.
#include "stepping/traced_thread.hpp"

#include "stepping/system_calls.hpp"
#include "stepping/threads.hpp"

#include <fmt/ostream.h>

#include <algorithm>
#include <span>
#include <sys/syscall.h>
#include <utility>
#include <vector>

namespace ptlens::ptsim {
namespace {

// Kernel work, core cycles.
constexpr std::uint64_t syscall_cycles = 450;    // a system call that does not wait
constexpr std::uint64_t signal_cycles = 1800;    // to build a signal frame
constexpr std::uint64_t interrupt_cycles = 1500; // before another thread is chosen
constexpr std::uint64_t exit_cycles = 5000;
constexpr std::uint64_t execve_cycles = 400'000;

constexpr std::uint64_t syscall_length = 2;

bool sends_packet(FlowKind flow) {
  return flow == FlowKind::conditional || flow == FlowKind::indirect_jump ||
         flow == FlowKind::indirect_call || flow == FlowKind::ret;
}

// Returns the stack pointer after a call or return; others are taken to leave it.
std::uint64_t sp_after(const Instruction& instruction, std::uint64_t sp) {
  constexpr std::uint64_t word = 8;
  switch (instruction.flow) {
  case FlowKind::call:
  case FlowKind::indirect_call:
    return sp - word;
  case FlowKind::ret:
    return sp + word + instruction.extra_popped;
  default:
    return sp;
  }
}

} // namespace

TracedThread::TracedThread(const Recorder& recorder, std::shared_ptr<Process> process,
                           std::unique_ptr<Tracee> tracee, pid_t root, TraceChannel* own)
    : recorder_(recorder), process_(std::move(process)), tracee_(std::move(tracee)),
      tid_(tracee_->tid()), root_(root), own_(own),
      truth_(*recorder.truth, recorder.filtered_truth, *process_, tid_),
      branches_(recorder.branches, tid_) {}

TraceChannel& TracedThread::channel() const {
  return own_ != nullptr ? *own_ : *processor_->channel;
}

Stamp TracedThread::stamp() const {
  return {channel().lane(), processor_->clock.ns(), task(), processor_->number};
}

Moment TracedThread::now() const {
  return {processor_->clock.ns(), off_cpu_ns_};
}

std::uint64_t TracedThread::word_at(std::uint64_t address) const {
  std::uint64_t word = 0;
  static_cast<void>(read_memory(tid_, address, std::as_writable_bytes(std::span(&word, 1))));
  return word;
}

// At a stop after an interrupted system call, the kernel has still to put the thread back before
// it.
std::uint64_t TracedThread::effective_ip() const {
  const bool restarts =
      !in_user_ && registers_.original_ax != ~std::uint64_t{0} && asks_for_restart(registers_.ax);
  return restarts ? registers_.ip - syscall_length : registers_.ip;
}

Result<void> TracedThread::read_registers() {
  auto registers = tracee_->registers();
  if (!registers) {
    return std::unexpected(registers.error());
  }
  registers_ = *registers;
  return {};
}

Result<Turn> TracedThread::begin(std::uint64_t ns) {
  if (auto read = read_registers(); !read) {
    return std::unexpected(read.error());
  }
  truth_.begin(effective_ip(), registers_.sp, word_at(registers_.sp), {ns, off_cpu_ns_});
  // Stopped while it waited in the kernel: it goes on waiting, and was not seen to enter.
  in_system_call_ = effective_ip() != registers_.ip;
  if (!in_system_call_) {
    return Turn::went_on;
  }
  out_since_ = ns;
  current_ = current();
  auto resumed = tracee_->step();
  return resumed ? Result<Turn>(Turn::waits) : std::unexpected(resumed.error());
}

bool TracedThread::was_in_kernel() const {
  return !current_ || current_->instruction.flow == FlowKind::syscall;
}

void TracedThread::come_to(Processor& processor) {
  processor_ = &processor;
  if (own_ != nullptr) {
    own_->unit().move_to(processor.clock);
  }
}

void TracedThread::leave_processor() {
  processor_ = nullptr;
}

void TracedThread::switched_out() {
  out_since_ = processor_->clock.ns();
}

void TracedThread::switched_in() {
  if (channel().disabled_until() == 0) {
    end_loss(processor_->clock.ns());
  }
  if (out_since_) {
    off_cpu_ns_ += processor_->clock.ns() - *out_since_;
    out_since_.reset();
  }
}

Result<void> TracedThread::record_mappings(const Stamp& at) {
  auto added = process_->update_mappings();
  if (!added) {
    return std::unexpected(added.error());
  }
  for (const Mapping& mapping : *added) {
    if (processor_ == nullptr || !recorder_.loses_record(at, "mapping")) {
      recorder_.file->mapping(at, mapping, process_->places().symbols(mapping.path).build_id());
    }
  }
  return {};
}

void TracedThread::record_name(const Stamp& at, bool exec) const {
  recorder_.file->comm(at, thread_name(tid_), exec);
}

Result<TracedThread::Current> TracedThread::current() {
  Current current;
  current.ip = effective_ip();
  auto instruction = process_->code().at(current.ip);
  if (!instruction) {
    return std::unexpected(instruction.error());
  }
  current.instruction = *instruction;
  if (current.instruction.flow == FlowKind::syscall) {
    current.system_call = current.ip == registers_.ip ? registers_.ax : registers_.original_ax;
  }
  return current;
}

Result<Turn> TracedThread::step() {
  // Where there is no instruction, the processor faults: a signal must come.
  current_ = current();
  const bool calls_kernel = current_ && current_->instruction.flow == FlowKind::syscall;
  const bool restarted = current_ && current_->ip != registers_.ip;
  const std::optional<std::uint64_t> asked =
      calls_kernel && !restarted ? sleep_time(tid_, current_->system_call, registers_)
                                 : std::nullopt;
  sleep_ns_.reset();
  if (auto resumed = tracee_->step(); !resumed) {
    return std::unexpected(resumed.error());
  }
  const auto stop = was_in_kernel() ? tracee_->settle() : tracee_->wait();
  lose_trap(stop);
  // It sleeps as long as it asked for, also where we were kept from looking for longer.
  const bool slept = stop && asked && slept_until(*stop);
  if (stop && !slept) {
    return handle(*stop);
  }
  if (!calls_kernel) { // stopped by job control
    interrupt_user(false);
    return Turn::waits;
  }
  if (!in_system_call_) {
    enter_kernel();
  }
  sleep_ns_ = asked;
  woken_by_ = stop;
  return Turn::waits;
}

// Executes one more instruction where the fault is due and the next one is no system call.
void TracedThread::lose_trap(const std::optional<Stop>& stop) {
  if (!stop || stop->kind != StopKind::executed || was_in_kernel() ||
      targets(*current_, registers_.sp).first == 0 || !recorder_.faults->trap_is_lost()) {
    return;
  }
  const auto registers = tracee_->registers();
  const auto next =
      registers ? process_->code().at(registers->ip) : std::unexpected(registers.error());
  if (next && next->flow != FlowKind::syscall && next->flow != FlowKind::trap && tracee_->step()) {
    static_cast<void>(tracee_->wait());
  }
}

bool TracedThread::woken() {
  if (!woken_by_) {
    woken_by_ = tracee_->woken();
  }
  if (woken_by_ && woken_by_->kind == StopKind::ended && !tracee_->exit_status() && current_ &&
      (current_->system_call == SYS_execve || current_->system_call == SYS_execveat)) {
    woken_by_.reset(); // it has got the id of its process: see take_over
  }
  return woken_by_.has_value();
}

bool TracedThread::slept_well() const {
  return sleep_ns_ && woken_by_ && slept_until(*woken_by_);
}

bool TracedThread::slept_until(const Stop& stop) const {
  const auto registers = tracee_->registers();
  return (stop.kind == StopKind::left_kernel || stop.kind == StopKind::executed) && registers &&
         registers->ax == 0;
}

Result<Turn> TracedThread::after_waiting() {
  const Stop stop = *std::exchange(woken_by_, std::nullopt);
  return handle(stop);
}

Result<Turn> TracedThread::handle(const Stop& stop) {
  Result<void> done;
  switch (stop.kind) {
  case StopKind::executed:
  case StopKind::left_kernel:
    if (stop.kind == StopKind::left_kernel && current_ &&
        current_->instruction.flow != FlowKind::syscall) {
      return Turn::went_on; // stopped at the exit from the kernel, before the instruction
    }
    done = current_ ? executed() : std::unexpected(current_.error());
    break;
  case StopKind::signalled:
    if (current_ && current_->instruction.flow == FlowKind::trap) {
      resume_user(current_->ip);
      retire(0);
    }
    in_system_call_ = false;
    done = read_registers();
    break;
  case StopKind::entered_handler:
    done = entered_handler();
    break;
  case StopKind::replaced:
    done = current_ ? replaced() : std::unexpected(current_.error());
    break;
  case StopKind::exiting:
  case StopKind::ended:
    if (current_ && current_->instruction.flow == FlowKind::syscall && !in_system_call_) {
      enter_kernel();
    }
    return Turn::ended;
  }
  if (!done && done.error().kind == Error::Kind::gone) { // killed at the stop
    static_cast<void>(tracee_->step());
    static_cast<void>(tracee_->wait());
    return Turn::ended;
  }
  let_faults_happen();
  return done ? Result<Turn>(Turn::went_on) : std::unexpected(done.error());
}

void TracedThread::resume_user(std::uint64_t ip) {
  if (in_user_) {
    return;
  }
  in_user_ = true;
  if (channel().disabled_until() != 0) {
    begin_loss(processor_->clock.ns());
  }
  unit().enter_user(ip);
  if (branches_.wanted()) {
    date_branches();
    branches_.on(ip);
  }
}

void TracedThread::date_branches() {
  branches_.at({processor_->number, processor_->clock.ns(), lost_since_.has_value()});
}

void TracedThread::retire(std::uint64_t next) {
  const Instruction& instruction = current_->instruction;
  const std::uint64_t before = processor_->clock.ns();
  unit().retire(instruction, current_->ip, next);
  if (cut_is_due_ && !told_by_next_ && sends_packet(instruction.flow) && unit().sending() &&
      unit().target_was_last()) {
    cut_is_due_ = false;
    cut_ = true;
    begin_loss(before);
  }
  if (instruction.flow != FlowKind::none) {
    told_by_next_ = !sends_packet(instruction.flow);
  }
  if (branches_.wanted() && instruction.flow != FlowKind::none) {
    date_branches();
    branches_.retire(instruction, current_->ip, next);
  }
  if (instruction.flow == FlowKind::syscall || instruction.flow == FlowKind::trap) {
    left_user();
  }
}

void TracedThread::interrupt_user(bool at_end) {
  if (!in_user_) {
    return;
  }
  unit().interrupt(registers_.ip);
  if (branches_.wanted()) {
    date_branches();
    branches_.line(registers_.ip, 0, at_end ? "off" : "interrupt");
  }
  left_user();
}

void TracedThread::left_user() {
  in_user_ = false;
  if (std::exchange(overflows_, false)) { // the kernel's packets had room again
    end_loss(processor_->clock.ns());
  }
}

void TracedThread::enter_kernel() {
  resume_user(current_->ip);
  const bool exits = current_->system_call == SYS_exit || current_->system_call == SYS_exit_group;
  if (exits) {
    end_abruptly();
  }
  retire(0);
  unit().run_kernel(syscall_cycles);
  in_system_call_ = true;
}

TracedThread::Targets TracedThread::targets(const Current& at, std::uint64_t sp) const {
  const std::uint64_t following = at.ip + at.instruction.length;
  const std::uint64_t target = following + static_cast<std::uint64_t>(at.instruction.displacement);
  switch (at.instruction.flow) {
  case FlowKind::none:
    return {following, at.instruction.repeats ? at.ip : following};
  case FlowKind::conditional:
    return {following, target};
  case FlowKind::jump:
  case FlowKind::call:
    return {target, target};
  case FlowKind::ret: {
    constexpr std::uint64_t call_length = 5;
    const std::uint64_t word = word_at(sp);
    return {word, word - call_length}; // a call there has put its own return address in its place
  }
  case FlowKind::syscall:
    return {following, following};
  default:
    return {0, 0};
  }
}

// Finds instructions that follow `path` and lead to that address, at most `most` of them.
bool TracedThread::find_path(std::vector<Current>& path, std::uint64_t sp, std::uint64_t to,
                             unsigned most) {
  const Current last = path.back();
  const Targets next = targets(last, sp);
  const std::uint64_t returned_sp = sp_after(last.instruction, 0);
  const bool returned = last.instruction.flow == FlowKind::ret && path.size() > 1 &&
                        word_at(registers_.sp - returned_sp) == to;
  if (next.contain(to) || returned || (next.first == 0 && path.size() > 1)) {
    return true;
  }
  if (most == 0 || next.first == 0) {
    return false;
  }
  for (const std::uint64_t ip : {next.first, next.second}) {
    const auto instruction = process_->code().at(ip);
    if (ip != last.ip && instruction && instruction->flow != FlowKind::unsupported) {
      path.push_back({.ip = ip, .instruction = *instruction, .system_call = before_.ax});
      if (find_path(path, sp_after(last.instruction, sp), to, most - 1)) {
        return true;
      }
      path.pop_back();
    }
  }
  return false;
}

// Returns false where the thread is not where its instruction leads. A system call may lead
// anywhere, and only the operands of an indirect branch say where that leads.
bool TracedThread::is_where_it_leads() const {
  const Targets expected = targets(*current_, before_.sp);
  return current_->instruction.flow == FlowKind::syscall || expected.first == 0 ||
         expected.contain(registers_.ip);
}

// A virtual machine can lose the trap after an instruction, so that the next one was executed, too.
// Retires all but the last one. Returns false where nothing leads to where the thread is.
bool TracedThread::catch_up() {
  constexpr unsigned most_lost = 3;
  std::vector<Current> path{*current_};
  unsigned lost = 1;
  while (lost <= most_lost && !find_path(path, before_.sp, registers_.ip, lost)) {
    ++lost;
  }
  std::uint64_t sp = before_.sp;
  for (std::size_t index = 0; index + 1 < path.size(); ++index) {
    current_ = path[index];
    sp = sp_after(current_->instruction, sp);
    resume_user(current_->ip);
    retire(path[index + 1].ip);
    truth_.retire(current_->instruction, current_->ip, path[index + 1].ip, sp, now());
    current_ = path[index + 1];
  }
  return lost <= most_lost;
}

Result<void> TracedThread::executed() {
  before_ = registers_;
  if (auto read = read_registers(); !read) {
    return read;
  }
  const bool caught_up = is_where_it_leads() || catch_up();
  const Instruction& instruction = current_->instruction;
  const std::uint64_t next = registers_.ip;
  if (instruction.flow == FlowKind::unsupported ||
      (!caught_up && instruction.flow != FlowKind::ret)) {
    return std::unexpected(
        Error{.kind = Error::Kind::unsupported,
              .message = fmt::format("the instruction of {} bytes at {:#x} led to {:#x}, which "
                                     "ptsim cannot simulate",
                                     instruction.length, current_->ip, next)});
  }
  if (instruction.flow == FlowKind::syscall) {
    if (next == current_->ip) {
      return {}; // the kernel set the instruction pointer back at its exit
    }
    if (!in_system_call_) {
      enter_kernel();
    }
    return system_call_over();
  }
  resume_user(current_->ip);
  if (instruction.pushes_flags) {
    constexpr std::uint64_t trap_flag = 1 << 8; // the tracer's, not the program's
    tracee_->write_word(registers_.sp, word_at(registers_.sp) & ~trap_flag);
  }
  retire(next);
  truth_.retire(instruction, current_->ip, next, registers_.sp, now());
  return {};
}

Result<void> TracedThread::system_call_over() {
  in_system_call_ = false;
  if (returns_from_handler(current_->system_call)) {
    truth_.leave_handler(now());
  }
  if (names_thread(current_->system_call, registers_)) {
    record_name(stamp(), false);
  }
  return changes_mappings(current_->system_call) ? record_mappings(stamp()) : Result<void>{};
}

Result<void> TracedThread::entered_handler() {
  const std::uint64_t interrupted_sp = registers_.sp;
  if (in_user_) {
    interrupt_user(false);
  }
  if (auto read = read_registers(); !read) {
    return read;
  }
  unit().run_kernel(signal_cycles);
  truth_.enter_handler(registers_.ip, word_at(registers_.sp), registers_.sp, interrupted_sp, now());
  return {};
}

Result<void> TracedThread::replaced() {
  if (!in_system_call_) {
    enter_kernel();
  }
  if (auto read = read_registers(); !read) {
    return read;
  }
  in_system_call_ = false;
  unit().run_kernel(execve_cycles);
  truth_.finish(true, now()); // the time in the kernel is the old program's
  record_name(stamp(), true);
  process_->forget();
  if (auto updated = record_mappings(stamp()); !updated) {
    return updated;
  }
  unit().filter(process_->filtered());
  truth_.begin(registers_.ip, registers_.sp, word_at(registers_.sp), now());
  return {};
}

void TracedThread::preempt() {
  interrupt_user(false);
  unit().run_kernel(interrupt_cycles);
}

void TracedThread::stop_hardware(std::uint64_t aux_flags) {
  interrupt_user(false);
  unit().trigger_off();
  channel().aux().hardware_stopped(stamp(), aux_flags);
}

void TracedThread::start_hardware() {
  if (channel().disabled_until() > processor_->clock.tsc()) {
    return;
  }
  end_loss(processor_->clock.ns());
  channel().disable_until(0);
  unit().filter(process_->filtered());
  unit().trigger_on();
}

void TracedThread::end(bool ended, std::uint64_t ns) {
  if (processor_ == nullptr) {
    truth_.finish(ended, {ns, off_cpu_ns_ + (out_since_ ? ns - std::min(ns, *out_since_) : 0)});
    out_since_.reset();
    end_loss(ns);
    return;
  }
  end_abruptly();
  interrupt_user(!ended);
  end_loss(processor_->clock.ns());
  if (ended) {
    unit().run_kernel(exit_cycles);
  }
  truth_.finish(ended, now());
  stop_hardware(0);
  if (ended) {
    recorder_.file->exit(stamp());
  }
}

void TracedThread::take_over(TracedThread& leader, const Stop& stop) {
  tracee_ = std::move(leader.tracee_);
  tid_ = tracee_->tid();
  truth_.renamed(tid_);
  branches_.renamed(tid_);
  woken_by_ = stop;
}

void TracedThread::let_faults_happen() {
  if (!processor_ || !in_user_) {
    return;
  }
  const Clock& clock = processor_->clock;
  if (current_ && sends_packet(current_->instruction.flow) && !unit().outcomes_wait()) {
    complete_until_ = clock.ns();
  }
  if (overflows_) {
    if (clock.cycles() >= overflow_until_) {
      unit().recover(registers_.ip);
      overflows_ = false;
      end_loss(processor_->clock.ns());
    }
    return;
  }
  if (channel().disabled_until() != 0) {
    if (clock.tsc() >= channel().disabled_until()) { // perf has read the buffer
      interrupt_user(false);
      start_hardware();
    }
    return;
  }
  // A decoder could not know that a branch without a packet was reached.
  if (!unit().sending() || !current_ || !sends_packet(current_->instruction.flow)) {
    return;
  }
  if (std::exchange(cut_, false)) {
    unit().stop_inside(recorder_.faults->cut_bytes());
    fill_buffer();
    return;
  }
  cut_is_due_ = recorder_.faults->cut_is_due() || cut_is_due_;
  if (recorder_.faults->overflow_begins()) {
    unit().flush();
    unit().overflow();
    overflows_ = true;
    overflow_until_ = clock.cycles() + recorder_.faults->overflow_cycles();
    begin_loss(clock.ns());
  } else if (recorder_.faults->truncation_begins()) {
    unit().flush();
    unit().stop_short();
    begin_loss(clock.ns());
    fill_buffer();
  }
}

// The event is disabled until perf has read the buffer.
void TracedThread::fill_buffer() {
  stop_hardware(PERF_AUX_FLAG_TRUNCATED);
  channel().disable_until(processor_->clock.tsc() + recorder_.faults->drain_ticks());
}

// The outcomes that wait for their packet are lost too.
void TracedThread::end_abruptly() {
  if (recorder_.faults->ends_abruptly() && in_user_) {
    begin_loss(complete_until_);
    unit().stop_short();
  }
}

void TracedThread::begin_loss(std::uint64_t ns) {
  if (!lost_since_) {
    lost_since_ = ns;
  }
}

void TracedThread::end_loss(std::uint64_t ns) {
  if (lost_since_) {
    fmt::print(*recorder_.truth, "{{\"lost\":[{},{}],\"tid\":{}}}\n", *lost_since_, ns, tid_);
    lost_since_.reset();
  }
}

} // namespace ptlens::ptsim
