// ptrace(2) with PTRACE_SEIZE.
#include "stepping/tracee.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <span>
#include <string_view>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace ptlens::ptsim {
namespace {

constexpr std::size_t affinity_words = 128; // 8192 CPUs

Error system_error(std::string what, std::string remedy = {}) {
  const int number = errno;
  Error::Kind kind = Error::Kind::failed;
  if (number == EPERM) {
    kind = Error::Kind::no_rights;
  } else if (number == ESRCH) {
    kind = Error::Kind::gone;
  }
  return Error{.kind = kind,
               .message = fmt::format("{}: {}", what, std::strerror(number)),
               .remedy = std::move(remedy)};
}

void* as_pointer(std::uint64_t value) {
  return reinterpret_cast<void*>(value); // NOLINT(performance-no-int-to-ptr)
}

void restore_cpus(pid_t tid, const CpuSet& cpus) {
  if (!cpus.empty()) {
    syscall(SYS_sched_setaffinity, tid, cpus.size() * sizeof(unsigned long), cpus.data());
  }
}

} // namespace

std::uint64_t trace_options(bool started_by_us) {
  return PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
         PTRACE_O_TRACEEXIT | (started_by_us ? PTRACE_O_EXITKILL : 0);
}

Tracee::Tracee(Tracee&& other) noexcept
    : tid_(other.tid_), state_(std::exchange(other.state_, State::gone)), how_(other.how_),
      interrupting_(other.interrupting_), ending_(other.ending_), delivering_(other.delivering_),
      replaced_(other.replaced_), former_(other.former_), signal_(other.signal_),
      exit_status_(other.exit_status_), kept_status_(other.kept_status_),
      children_(std::move(other.children_)), cpus_before_(std::move(other.cpus_before_)) {}

Tracee::~Tracee() {
  detach();
}

Result<Tracee> Tracee::seize(pid_t tid, std::uint64_t options) {
  Tracee tracee(tid);
  tracee.state_ = State::gone;
  if (ptrace(PTRACE_SEIZE, tid, nullptr, as_pointer(options)) != 0) {
    return std::unexpected(system_error(fmt::format("cannot trace thread {}", tid),
                                        "run as root, or set kernel.yama.ptrace_scope to 0"));
  }
  tracee.state_ = State::resumed;
  tracee.how_ = PTRACE_CONT;
  tracee.stay_on_one_cpu();
  return tracee;
}

Result<Tracee> Tracee::attach(pid_t tid, std::uint64_t options) {
  auto tracee = seize(tid, options);
  if (tracee) {
    tracee->interrupt();
    if (!tracee->wait_interrupted()) {
      return std::unexpected(
          Error{.kind = Error::Kind::gone, .message = fmt::format("thread {} ended", tid)});
    }
  }
  return tracee;
}

Tracee Tracee::adopt(pid_t tid, const CpuSet& cpus) {
  Tracee tracee(tid);
  tracee.cpus_before_ = cpus;
  int status = 0;
  const pid_t waited = waitpid(tid, &status, __WALL);
  if (waited != tid || !WIFSTOPPED(status)) {
    tracee.state_ = State::gone;
    tracee.exit_status_ = status;
  } else if (status >> 16 == 0) { // a signal before its first stop
    tracee.signal_ = WSTOPSIG(status);
  }
  return tracee;
}

void let_child_go(pid_t child, const CpuSet& cpus) {
  Tracee::adopt(child, cpus).detach();
}

// Each step is two context switches; between two CPUs each would be a wake-up too, five times
// slower.
void Tracee::stay_on_one_cpu() {
  cpus_before_.assign(affinity_words, 0);
  const std::size_t bytes = affinity_words * sizeof(unsigned long);
  if (syscall(SYS_sched_getaffinity, tid_, bytes, cpus_before_.data()) < 0) {
    cpus_before_.clear();
    return;
  }
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(sched_getcpu(), &here);
  sched_setaffinity(0, sizeof here, &here);
  sched_setaffinity(tid_, sizeof here, &here);
}

Result<void> Tracee::step() {
  return resume(PTRACE_SINGLESTEP);
}

Result<void> Tracee::run() {
  return resume(PTRACE_CONT);
}

Result<void> Tracee::resume(int how) {
  if (state_ != State::stopped) {
    return {};
  }
  const int signal = std::exchange(signal_, 0);
  delivering_ = signal != 0;
  replaced_ = false;
  how_ = how;
  state_ = State::resumed;
  if (ptrace(static_cast<__ptrace_request>(how), tid_, nullptr,
             as_pointer(static_cast<std::uint64_t>(signal))) != 0 &&
      errno != ESRCH) { // ESRCH: killed meanwhile; its end is waited for as any stop
    return std::unexpected(system_error(fmt::format("cannot step thread {}", tid_)));
  }
  return {};
}

std::optional<int> Tracee::take_status(bool wait) {
  if (kept_status_) {
    return std::exchange(kept_status_, std::nullopt);
  }
  int status = 0;
  pid_t stopped = 0;
  do {
    stopped = waitpid(tid_, &status, __WALL | (wait ? 0 : WNOHANG));
  } while (stopped < 0 && errno == EINTR);
  if (stopped < 0) { // reaped elsewhere: no longer a thread of ours
    state_ = State::gone;
    return std::nullopt;
  }
  return stopped == tid_ ? std::optional(status) : std::nullopt;
}

std::optional<Stop> Tracee::poll() {
  while (state_ == State::resumed || state_ == State::listening) {
    const auto status = take_status(false);
    if (state_ == State::gone) {
      return Stop{StopKind::ended};
    }
    if (!status) {
      return std::nullopt;
    }
    if (auto stop = interpret(*status)) {
      return stop;
    }
  }
  return std::nullopt;
}

std::optional<Stop> Tracee::wait() {
  while (state_ == State::resumed) {
    const auto status = take_status(true);
    if (!status) {
      state_ = State::gone;
      return Stop{StopKind::ended};
    }
    if (auto stop = interpret(*status)) {
      return stop;
    }
  }
  return std::nullopt;
}

std::optional<Stop> Tracee::settle() {
  while (true) {
    sched_yield(); // the thread runs on the same CPU
    auto stop = poll();
    if (stop || state_ != State::resumed) {
      return stop;
    }
    const char state = kernel_state();
    if (state == 'S' || state == 'D' || state == 'I') {
      return poll(); // it may have stopped since it was last asked
    }
  }
}

std::optional<Stop> Tracee::woken() {
  const char state = state_ == State::resumed ? kernel_state() : 'S';
  return state == 'S' || state == 'D' || state == 'I' ? poll() : settle();
}

// One character of /proc/TID/stat: "tid (name) state ...".
char Tracee::kernel_state() const {
  std::array<char, 128> text{};
  const int file = open(fmt::format("/proc/{}/stat", tid_).c_str(), O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? 0 : read(file, text.data(), text.size());
  if (file >= 0) {
    close(file);
  }
  const std::string_view line(text.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
  const std::size_t name_end = line.rfind(')');
  return name_end == std::string_view::npos || name_end + 2 >= line.size() ? 'X'
                                                                           : line[name_end + 2];
}

void Tracee::interrupt() {
  if (state_ == State::resumed || state_ == State::listening) {
    ptrace(PTRACE_INTERRUPT, tid_, nullptr, nullptr);
    interrupting_ = true;
  }
}

bool Tracee::wait_interrupted() {
  while (state_ == State::resumed || state_ == State::listening) {
    const auto status = take_status(true);
    if (!status) {
      state_ = State::gone;
      break;
    }
    const auto stop = interpret(*status);
    if (stop && (stop->kind == StopKind::exiting || stop->kind == StopKind::ended)) {
      break;
    }
  }
  interrupting_ = false; // should it come after another stop, it is passed over
  if (state_ == State::stopped && trap_is_pending()) {
    // The end of the step came with the interruption and would kill the thread once let go.
    ptrace(PTRACE_CONT, tid_, nullptr, nullptr);
    state_ = State::resumed;
    const auto stop = wait();
    return stop && stop->kind != StopKind::exiting && stop->kind != StopKind::ended;
  }
  return state_ == State::stopped;
}

bool Tracee::trap_is_pending() const {
  constexpr std::size_t capacity = 32;
  std::array<siginfo_t, capacity> signals{};
  __ptrace_peeksiginfo_args arguments{.off = 0, .flags = 0, .nr = capacity};
  const long count = ptrace(PTRACE_PEEKSIGINFO, tid_, &arguments, signals.data());
  return count > 0 && std::ranges::any_of(std::span(signals).first(static_cast<std::size_t>(count)),
                                          [](const siginfo_t& signal) {
                                            return signal.si_signo == SIGTRAP &&
                                                   signal.si_code > 0 &&
                                                   signal.si_code != SI_KERNEL;
                                          });
}

// What a wait status says; nothing where the thread was resumed at once.
std::optional<Stop> Tracee::interpret(int status) {
  if (!WIFSTOPPED(status)) {
    state_ = State::gone;
    exit_status_ = status;
    return Stop{StopKind::ended};
  }
  state_ = State::stopped;
  const int stop = WSTOPSIG(status);
  unsigned long message = 0;
  int how = how_;
  switch (status >> 16) {
  case 0:
    if (stop == SIGTRAP) {
      return trapped();
    }
    signal_ = stop;
    return Stop{StopKind::signalled};
  case PTRACE_EVENT_EXEC:
    ptrace(PTRACE_GETEVENTMSG, tid_, nullptr, &message);
    former_ = static_cast<pid_t>(message);
    ending_ = false;
    if (how_ != PTRACE_SINGLESTEP) {
      return Stop{StopKind::replaced, former_};
    }
    replaced_ = true; // until the trap after it
    break;
  case PTRACE_EVENT_CLONE:
  case PTRACE_EVENT_FORK:
  case PTRACE_EVENT_VFORK:
    child_made();
    break;
  case PTRACE_EVENT_EXIT:
    ptrace(PTRACE_GETEVENTMSG, tid_, nullptr, &message);
    exit_status_ = static_cast<int>(message);
    return Stop{StopKind::exiting};
  case PTRACE_EVENT_STOP:
    if (interrupting_) {
      interrupting_ = false;
      return std::nullopt;
    }
    if (stop != SIGTRAP) { // stopped by job control until SIGCONT
      how = PTRACE_LISTEN;
    }
    break;
  default:
    break;
  }
  state_ = how == PTRACE_LISTEN ? State::listening : State::resumed;
  ptrace(static_cast<__ptrace_request>(how), tid_, nullptr, nullptr);
  return std::nullopt;
}

Stop Tracee::trapped() {
  siginfo_t information{};
  ptrace(PTRACE_GETSIGINFO, tid_, nullptr, &information);
  if (delivering_ && information.si_code == SIGTRAP) {
    return {StopKind::entered_handler};
  }
  if (information.si_code == SI_USER && how_ == PTRACE_SINGLESTEP && !in_system_call()) {
    return {StopKind::executed}; // an instruction with a probe (arch/x86/kernel/uprobes.c)
  }
  if (information.si_code <= 0 || information.si_code == SI_KERNEL) {
    signal_ = SIGTRAP; // raised by the program itself
    return {StopKind::signalled};
  }
  if (replaced_) {
    return {StopKind::replaced, former_};
  }
  return {information.si_code == TRAP_BRKPT ? StopKind::left_kernel : StopKind::executed};
}

bool Tracee::in_system_call() const {
  const auto now = registers();
  return !now || now->original_ax != UINT64_MAX;
}

void Tracee::child_made() {
  unsigned long message = 0;
  ptrace(PTRACE_GETEVENTMSG, tid_, nullptr, &message);
  children_.push_back(static_cast<pid_t>(message));
}

Result<void> Tracee::break_at(std::uint64_t address) const {
  constexpr std::size_t debug_registers = offsetof(user, u_debugreg);
  constexpr std::size_t control = debug_registers + 7 * sizeof(unsigned long);
  const auto set = [&](std::size_t where, std::uint64_t value) {
    return ptrace(PTRACE_POKEUSER, tid_, as_pointer(where), as_pointer(value)) == 0;
  };
  if (!set(debug_registers, address) || !set(control, address == 0 ? 0 : 1)) {
    return std::unexpected(system_error(fmt::format("cannot set a breakpoint at {:#x}", address)));
  }
  return {};
}

Result<Registers> Tracee::registers() const {
  user_regs_struct raw{};
  if (ptrace(PTRACE_GETREGS, tid_, nullptr, &raw) != 0) {
    return std::unexpected(system_error(fmt::format("cannot read the registers of {}", tid_)));
  }
  return Registers{raw.rip, raw.rsp, raw.rax, raw.orig_rax, raw.rdi, raw.rsi, raw.rdx};
}

void Tracee::write_word(std::uint64_t address, std::uint64_t value) const {
  ptrace(PTRACE_POKEDATA, tid_, as_pointer(address), as_pointer(value));
}

std::vector<pid_t> Tracee::take_children() {
  return std::exchange(children_, {});
}

void Tracee::let_end() {
  how_ = PTRACE_SINGLESTEP; // if another thread's execve takes its place
  ending_ = true;
  if (state_ == State::stopped) {
    ptrace(PTRACE_CONT, tid_, nullptr, nullptr);
    state_ = State::resumed;
  }
  while (state_ == State::resumed) {
    const auto status = take_status(false);
    if (status && !WIFSTOPPED(*status)) {
      state_ = State::gone;
      exit_status_ = *status;
    } else if (status && *status >> 16 == PTRACE_EVENT_EXEC) { // another thread has its id now
      kept_status_ = *status;
      return;
    } else if (status) {
      ptrace(PTRACE_CONT, tid_, nullptr, nullptr);
    } else if (const char state = kernel_state(); state == 'Z' || state == 'X') {
      return; // until the other threads of its process are gone
    } else {
      sched_yield();
    }
  }
}

void Tracee::detach() {
  if (ending_) { // cannot be stopped any more
    return;
  }
  if (state_ == State::resumed || state_ == State::listening) {
    interrupt();
    wait_interrupted();
  }
  for (const pid_t child : std::exchange(children_, {})) {
    let_child_go(child, cpus_before_);
  }
  if (state_ == State::stopped) {
    restore_cpus(tid_, cpus_before_);
    ptrace(PTRACE_DETACH, tid_, nullptr, as_pointer(static_cast<std::uint64_t>(signal_)));
  }
  state_ = State::gone;
}

} // namespace ptlens::ptsim
