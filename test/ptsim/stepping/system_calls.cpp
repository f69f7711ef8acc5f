// Classes of system calls by number.
#include "stepping/system_calls.hpp"

#include "code/code_reader.hpp"

#include <ctime>
#include <span>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace ptlens::ptsim {
namespace {

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

} // namespace

std::optional<std::uint64_t> sleep_time(pid_t pid, std::uint64_t number,
                                        const Registers& registers) {
  if (number != SYS_nanosleep && number != SYS_clock_nanosleep) {
    return std::nullopt;
  }
  const bool has_clock = number == SYS_clock_nanosleep;
  timespec asked{};
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&asked, 1));
  if (read_memory(pid, has_clock ? registers.dx : registers.di, bytes) != bytes.size()) {
    return std::nullopt;
  }
  if (has_clock && (registers.si & TIMER_ABSTIME) != 0) {
    timespec now{};
    clock_gettime(static_cast<clockid_t>(registers.di), &now);
    const std::int64_t left = nanoseconds(asked) - nanoseconds(now);
    return left > 0 ? static_cast<std::uint64_t>(left) : 0;
  }
  return static_cast<std::uint64_t>(nanoseconds(asked));
}

bool names_thread(std::uint64_t number, const Registers& registers) {
  return number == SYS_prctl && registers.di == PR_SET_NAME;
}

bool changes_mappings(std::uint64_t number) {
  switch (number) {
  case SYS_mmap:
  case SYS_munmap:
  case SYS_mremap:
  case SYS_mprotect:
  case SYS_pkey_mprotect:
  case SYS_shmat:
  case SYS_shmdt:
    return true;
  default:
    return false;
  }
}

bool returns_from_handler(std::uint64_t number) {
  return number == SYS_rt_sigreturn;
}

bool asks_for_restart(std::uint64_t result) {
  constexpr std::int64_t restart = -512;         // ERESTARTSYS
  constexpr std::int64_t restart_not_int = -513; // ERESTARTNOINTR
  constexpr std::int64_t restart_no_hand = -514; // ERESTARTNOHAND
  constexpr std::int64_t restart_block = -516;   // ERESTART_RESTARTBLOCK
  const auto value = static_cast<std::int64_t>(result);
  return value == restart || value == restart_not_int || value == restart_no_hand ||
         value == restart_block;
}

} // namespace ptlens::ptsim
