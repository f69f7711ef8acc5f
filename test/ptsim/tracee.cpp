// ptrace(2) with PTRACE_SEIZE.
#include "tracee.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace ptlens::ptsim {
namespace {

constexpr int look_around_ms = 20;
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

[[noreturn]] void execute(const std::vector<std::string>& arguments, int go, int failure) {
  char byte = 0;
  while (read(go, &byte, 1) < 0 && errno == EINTR) {
  }
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) {
    pointers.push_back(
        const_cast<char*>(argument.c_str())); // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }
  pointers.push_back(nullptr);
  execvp(pointers.front(), pointers.data());
  const int number = errno;
  const ssize_t written = write(failure, &number, sizeof number);
  _exit(written == sizeof number ? 127 : 126);
}

} // namespace

Tracee::Tracee(pid_t pid, pid_t tid, Signals& signals) : pid_(pid), tid_(tid), signals_(&signals) {}

Tracee::Tracee(Tracee&& other) noexcept
    : pid_(other.pid_), tid_(other.tid_), signals_(other.signals_),
      attached_(std::exchange(other.attached_, false)), interrupt_sent_(other.interrupt_sent_),
      signal_(other.signal_), exit_status_(other.exit_status_),
      children_(std::move(other.children_)), cpus_before_(std::move(other.cpus_before_)) {}

Tracee::~Tracee() {
  detach();
}

Result<Tracee> Tracee::launch(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& environment, Signals& signals) {
  int go[2] = {-1, -1};
  int failure[2] = {-1, -1};
  if (pipe2(go, O_CLOEXEC) != 0 || pipe2(failure, O_CLOEXEC) != 0) {
    return std::unexpected(system_error("pipe"));
  }
  const pid_t pid = fork();
  if (pid < 0) {
    return std::unexpected(system_error("fork"));
  }
  if (pid == 0) {
    signals.restore_mask();
    for (const std::string& entry : environment) {
      const std::size_t equals = entry.find('=');
      setenv(entry.substr(0, equals).c_str(), entry.substr(equals + 1).c_str(), 0);
    }
    execute(arguments, go[0], failure[1]);
  }
  close(go[0]);
  close(failure[1]);
  Tracee tracee(pid, pid, signals);
  auto seized = tracee.seize(true);
  if (!seized) {
    kill(pid, SIGKILL);
  }
  const ssize_t written = write(go[1], "", 1);
  close(go[1]);
  int status = 0;
  const bool waited = seized && written == 1 && waitpid(pid, &status, __WALL) == pid;
  int number = 0;
  const ssize_t failed = waited && WIFEXITED(status) ? read(failure[0], &number, sizeof number) : 0;
  close(failure[0]);
  if (!seized) {
    return std::unexpected(seized.error());
  }
  if (!waited || !WIFSTOPPED(status)) {
    tracee.attached_ = false;
    return std::unexpected(
        Error{.kind = number == ENOENT ? Error::Kind::not_found : Error::Kind::failed,
              .message = fmt::format("cannot start the program: {}",
                                     failed > 0 ? std::strerror(number) : "it ended at once"),
              .file = arguments.front()});
  }
  return tracee;
}

Result<Tracee> Tracee::attach(pid_t pid, pid_t tid, Signals& signals) {
  Tracee tracee(pid, tid, signals);
  if (auto seized = tracee.seize(false); !seized) {
    return std::unexpected(seized.error());
  }
  ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
  int status = 0;
  if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status)) {
    tracee.attached_ = false;
    return std::unexpected(
        Error{.kind = Error::Kind::gone, .message = fmt::format("thread {} ended", tid)});
  }
  if (status >> 16 != PTRACE_EVENT_STOP) {
    // A signal came first; the stop that was asked for follows the next resumption.
    tracee.signal_ = WSTOPSIG(status);
    tracee.interrupt_sent_ = true;
  }
  return tracee;
}

Result<void> Tracee::seize(bool ours) {
  const std::uint64_t options = PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                                PTRACE_O_TRACEVFORK | (ours ? PTRACE_O_EXITKILL : 0);
  if (ptrace(PTRACE_SEIZE, tid_, nullptr, as_pointer(options)) != 0) {
    return std::unexpected(system_error(fmt::format("cannot trace thread {}", tid_),
                                        "run as root, or set kernel.yama.ptrace_scope to 0"));
  }
  attached_ = true;
  stay_on_one_cpu();
  return {};
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

std::optional<int> Tracee::wait(bool may_wait, const std::function<bool()>& give_up) {
  int status = 0;
  while (true) {
    const pid_t stopped = waitpid(tid_, &status, __WALL | (may_wait ? WNOHANG : 0));
    if (stopped == tid_) {
      return status;
    }
    if (stopped < 0 && errno != EINTR) {
      return std::nullopt;
    }
    if (may_wait) {
      signals_->wait({}, look_around_ms);
      if (give_up() && !interrupt_sent_) {
        ptrace(PTRACE_INTERRUPT, tid_, nullptr, nullptr);
        interrupt_sent_ = true;
      }
    }
  }
}

void Tracee::let_child_go() {
  unsigned long message = 0;
  ptrace(PTRACE_GETEVENTMSG, tid_, nullptr, &message);
  const auto child = static_cast<pid_t>(message);
  int status = 0;
  if (waitpid(child, &status, __WALL) == child && WIFSTOPPED(status)) {
    if (!cpus_before_.empty()) {
      syscall(SYS_sched_setaffinity, child, affinity_words * sizeof(unsigned long),
              cpus_before_.data());
    }
    ptrace(PTRACE_DETACH, child, nullptr, nullptr);
  }
  children_.push_back(child);
}

Result<StepKind> Tracee::step(bool may_wait, const std::function<bool()>& give_up) {
  return resume(PTRACE_SINGLESTEP, may_wait, give_up);
}

Result<StepKind> Tracee::resume(int how, bool may_wait, const std::function<bool()>& give_up) {
  int request = how;
  bool replaced = false;
  int delivered = std::exchange(signal_, 0);
  const bool may_enter_handler = delivered != 0;
  while (true) {
    if (ptrace(static_cast<__ptrace_request>(request), tid_, nullptr,
               as_pointer(static_cast<std::uint64_t>(delivered))) != 0 &&
        errno != ESRCH) {
      return std::unexpected(system_error(fmt::format("cannot step thread {}", tid_)));
    }
    delivered = 0;
    const std::optional<int> status = wait(may_wait, give_up);
    if (!status || !WIFSTOPPED(*status)) {
      attached_ = false;
      exit_status_ = status;
      return StepKind::ended;
    }
    const int event = *status >> 16;
    const int stop = WSTOPSIG(*status);
    switch (event) {
    case 0:
      break;
    case PTRACE_EVENT_EXEC:
      replaced = true;
      continue;
    case PTRACE_EVENT_CLONE:
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
      let_child_go();
      continue;
    case PTRACE_EVENT_STOP:
      if (std::exchange(interrupt_sent_, false)) {
        if (give_up()) {
          return StepKind::interrupted;
        }
      } else if (stop != SIGTRAP) { // stopped by job control until SIGCONT
        request = PTRACE_LISTEN;
        may_wait = true;
      } else if (request == PTRACE_LISTEN) {
        request = how;
      }
      continue;
    default:
      continue;
    }
    if (stop != SIGTRAP) {
      signal_ = stop;
      return StepKind::signalled;
    }
    siginfo_t information{};
    ptrace(PTRACE_GETSIGINFO, tid_, nullptr, &information);
    if (may_enter_handler && information.si_code == SIGTRAP) {
      return StepKind::entered_handler;
    }
    if (information.si_code <= 0 || information.si_code == SI_KERNEL) {
      signal_ = SIGTRAP; // raised by the program itself
      return StepKind::signalled;
    }
    if (replaced) {
      return StepKind::replaced;
    }
    return information.si_code == TRAP_BRKPT ? StepKind::left_kernel : StepKind::executed;
  }
}

Result<bool> Tracee::run_until(std::uint64_t address, const std::function<bool()>& give_up) {
  constexpr std::size_t debug_registers = offsetof(user, u_debugreg);
  constexpr std::size_t control = debug_registers + 7 * sizeof(unsigned long);
  const auto set = [&](std::size_t where, std::uint64_t value) {
    return ptrace(PTRACE_POKEUSER, tid_, as_pointer(where), as_pointer(value)) == 0;
  };
  if (!set(debug_registers, address) || !set(control, 1)) {
    return std::unexpected(system_error(fmt::format("cannot set a breakpoint at {:#x}", address)));
  }
  while (true) {
    auto stop = resume(PTRACE_CONT, true, give_up);
    if (!stop || *stop == StepKind::ended || *stop == StepKind::interrupted) {
      set(control, 0);
      return stop ? Result<bool>(false) : std::unexpected(stop.error());
    }
    const auto now = registers();
    if (now && now->ip == address && *stop == StepKind::executed) {
      set(control, 0);
      return true;
    }
  }
}

Result<Registers> Tracee::registers() const {
  user_regs_struct raw{};
  if (ptrace(PTRACE_GETREGS, tid_, nullptr, &raw) != 0) {
    return std::unexpected(system_error(fmt::format("cannot read the registers of {}", tid_)));
  }
  return Registers{raw.rip, raw.rsp, raw.rax, raw.orig_rax};
}

void Tracee::write_word(std::uint64_t address, std::uint64_t value) const {
  ptrace(PTRACE_POKEDATA, tid_, as_pointer(address), as_pointer(value));
}

std::vector<pid_t> Tracee::take_children() {
  return std::exchange(children_, {});
}

void Tracee::await_end() {
  int status = 0;
  pid_t waited = 0;
  do {
    waited = waitpid(tid_, &status, __WALL);
  } while ((waited == tid_ && WIFSTOPPED(status)) || (waited < 0 && errno == EINTR));
  attached_ = false;
  exit_status_ = status;
}

void Tracee::detach() {
  if (!std::exchange(attached_, false)) {
    return;
  }
  if (!cpus_before_.empty()) {
    syscall(SYS_sched_setaffinity, tid_, affinity_words * sizeof(unsigned long),
            cpus_before_.data());
  }
  ptrace(PTRACE_DETACH, tid_, nullptr, as_pointer(static_cast<std::uint64_t>(signal_)));
}

} // namespace ptlens::ptsim
