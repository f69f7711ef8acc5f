// Classes of system calls by number.
#include "system_calls.hpp"

#include <sys/syscall.h>

namespace ptlens::ptsim {

bool sleeps(std::uint64_t number) {
  switch (number) {
  case SYS_nanosleep:
  case SYS_clock_nanosleep:
  case SYS_pause:
    return true;
  default:
    return false;
  }
}

bool may_wait(std::uint64_t number) {
  switch (number) {
  case SYS_read:
  case SYS_readv:
  case SYS_pread64:
  case SYS_write:
  case SYS_writev:
  case SYS_poll:
  case SYS_ppoll:
  case SYS_select:
  case SYS_pselect6:
  case SYS_epoll_wait:
  case SYS_epoll_pwait:
  case SYS_epoll_pwait2:
  case SYS_accept:
  case SYS_accept4:
  case SYS_connect:
  case SYS_recvfrom:
  case SYS_recvmsg:
  case SYS_recvmmsg:
  case SYS_sendto:
  case SYS_sendmsg:
  case SYS_futex:
  case SYS_wait4:
  case SYS_waitid:
  case SYS_vfork:
  case SYS_clone:
  case SYS_clone3:
  case SYS_fsync:
  case SYS_fdatasync:
  case SYS_flock:
  case SYS_rt_sigtimedwait:
  case SYS_rt_sigsuspend:
  case SYS_semop:
  case SYS_semtimedop:
  case SYS_msgrcv:
  case SYS_restart_syscall:
  case SYS_io_uring_enter:
    return true;
  default:
    return sleeps(number);
  }
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
