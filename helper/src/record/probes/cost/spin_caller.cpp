#include "record/probes/cost/spin_caller.hpp"

#include "record/processes/pipe.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <link.h>
#include <memory>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h> // NOLINT: POSIX
#include <unistd.h>
#include <utility>

// Each function spins for at least rdi ticks of the time stamp counter and returns the ticks that
// it spun, because the cost of a hit depends on the time since the previous hit. The functions
// share one loop: with a loop per function, exits permanently cost a sixth more after another
// function had run without probes.
asm(R"(
.text
.p2align 4
.type ptlens_spin_for, @function
ptlens_spin_for:
  rdtsc
  shl $32, %rdx
  or %rdx, %rax
  mov %rax, %rcx
1:
  rdtsc
  shl $32, %rdx
  or %rdx, %rax
  sub %rcx, %rax
  cmp %rdi, %rax
  jb 1b
  ret
.size ptlens_spin_for, .-ptlens_spin_for
.macro ptlens_spin name, first, second, last
.p2align 4
.globl \name, \name\()_exit
.hidden \name, \name\()_exit
.type \name, @function
\name:
  \first
  \second
  call ptlens_spin_for
  \last
\name\()_exit:
  ret
.size \name, .-\name
.endm
ptlens_spin ptlens_spin_emulated, "push %rbp", "mov %rsp, %rbp", "pop %rbp"
ptlens_spin ptlens_spin_stepped, "mov %rsp, %rax", "mov %rsp, %rcx", "mov %rax, %rcx"
ptlens_spin ptlens_spin_returned, "push %rbp", "mov %rsp, %rbp", "pop %rbp"
)");

extern "C" {
std::uint64_t ptlens_spin_emulated(std::uint64_t ticks);
std::uint64_t ptlens_spin_stepped(std::uint64_t ticks);
std::uint64_t ptlens_spin_returned(std::uint64_t ticks);
extern const char ptlens_spin_emulated_exit;
extern const char ptlens_spin_stepped_exit;
}

namespace ptlens::record {
namespace {

double monotonic_ns() {
  timespec time = {};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

void call_all(const std::array<SpinFunction, spin_function_count>& functions, Spent& spent) {
  constexpr double rate_over_ns = 2e6;
  constexpr double quick_ns = 2000;
  constexpr double slow_ns = 60'000;
  constexpr timespec pause = {.tv_sec = 0, .tv_nsec = 1'000'000};
  constexpr timespec short_pause = {.tv_sec = 0, .tv_nsec = 60'000};
  const double begin_ns = monotonic_ns();
  const std::uint64_t begin = __builtin_ia32_rdtsc();
  double now_ns = begin_ns;
  while (now_ns - begin_ns < rate_over_ns) {
    now_ns = monotonic_ns();
  }
  const double rate = static_cast<double>(__builtin_ia32_rdtsc() - begin) / (now_ns - begin_ns);
  const auto quick = static_cast<std::uint64_t>(quick_ns * rate);
  const auto slow = static_cast<std::uint64_t>(slow_ns * rate);
  for (std::size_t turn = 0; turn < spin_calls; turn += spin_calls_a_turn) {
    for (std::size_t index = 0; index < functions.size(); ++index) {
      for (std::size_t call = turn; call < turn + spin_calls_a_turn; ++call) {
        const bool is_quick = call - turn < spin_quick_calls;
        if (!is_quick) {
          ::nanosleep(&short_pause, nullptr);
        }
        spent.ticks[index][call] = functions[index].function(is_quick ? quick : slow);
      }
    }
    ::nanosleep(&pause, nullptr);
  }
  // Over all turns, an interrupt between the readings of the two clocks no longer matters.
  const double spent_ns = monotonic_ns() - begin_ns;
  spent.ticks_a_ns = static_cast<double>(__builtin_ia32_rdtsc() - begin) / spent_ns;
}

} // namespace

std::array<SpinFunction, spin_function_count> spin_functions() {
  const auto address = [](const void* place) {
    return reinterpret_cast<std::uint64_t>(place); // NOLINT
  };
  const auto entry = [&](auto* function) {
    return address(reinterpret_cast<const void*>(function)); // NOLINT
  };
  return {SpinFunction{.function = ptlens_spin_emulated,
                       .entry = entry(ptlens_spin_emulated),
                       .exit = address(&ptlens_spin_emulated_exit)},
          SpinFunction{.function = ptlens_spin_stepped,
                       .entry = entry(ptlens_spin_stepped),
                       .exit = address(&ptlens_spin_stepped_exit)},
          SpinFunction{.function = ptlens_spin_returned,
                       .returned = true,
                       .entry = entry(ptlens_spin_returned),
                       .exit = entry(ptlens_spin_returned)}};
}

std::optional<std::uint64_t> own_file_offset(std::uint64_t address) {
  struct Search {
    std::uint64_t address = 0;
    std::optional<std::uint64_t> offset;
  } search{.address = address, .offset = {}};
  // The program itself is the first object.
  ::dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* data) {
        Search& wanted = *static_cast<Search*>(data);
        for (std::size_t index = 0; index < program->dlpi_phnum; ++index) {
          const ElfW(Phdr)& segment = program->dlpi_phdr[index];
          const std::uint64_t start = program->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD && wanted.address - start < segment.p_filesz) {
            wanted.offset = wanted.address - start + segment.p_offset;
          }
        }
        return 1;
      },
      &search);
  return search.offset;
}

Result<SpinCaller> SpinCaller::start() {
  auto pipe = make_pipe();
  if (!pipe) {
    return std::unexpected(pipe.error());
  }
  SpinCaller caller;
  caller.go_ = std::move(pipe->write_end);
  void* const shared =
      ::mmap(nullptr, sizeof(Spent), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) { // NOLINT
    return std::unexpected(
        Error{.message = fmt::format("the calibration cannot start: {}", std::strerror(errno))});
  }
  caller.spent_.reset(std::construct_at(static_cast<Spent*>(shared)));
  const auto functions = spin_functions();
  caller.pid_ = ::fork();
  if (caller.pid_ == 0) { // only system calls, because other threads can hold locks
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(caller.go_.get());
    char byte = 0;
    if (::read(pipe->read_end.get(), &byte, 1) == 1) {
      call_all(functions, *caller.spent_);
    }
    ::_exit(0);
  }
  if (caller.pid_ < 0) {
    return std::unexpected(
        Error{.message = fmt::format("the calibration cannot start: {}", std::strerror(errno))});
  }
  return caller;
}

SpinCaller::SpinCaller(SpinCaller&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), go_(std::move(other.go_)),
      spent_(std::move(other.spent_)) {}

SpinCaller::~SpinCaller() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void SpinCaller::go() const {
  [[maybe_unused]] const ssize_t written = ::write(go_.get(), "x", 1);
}

bool SpinCaller::ended() {
  int status = 0;
  if (pid_ > 0 && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    pid_ = -1;
  }
  return pid_ < 0;
}

void SpinCaller::Unmap::operator()(Spent* spent) const {
  ::munmap(spent, sizeof *spent);
}

} // namespace ptlens::record
