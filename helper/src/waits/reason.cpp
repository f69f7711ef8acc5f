// Tables of functions. Kernel: the names in kernel/futex, kernel/time, fs, mm, block, net, ipc,
// kernel/exit.c and kernel/signal.c, which compilers may extend (".isra.0"), and which differ
// between versions: each entry is the beginning of a name. The innermost function of the kernel's
// stack that a table contains decides. User: the C library, the C++ library and the library of
// Rust.
#include "waits/reason.hpp"

#include <algorithm>
#include <cstddef>

namespace ptlens::waits {
namespace {

struct KernelEntry {
  std::string_view begin;
  Reason reason;
};

constexpr KernelEntry kernel_table[] = {
    {"futex_", Reason::lock},
    {"__futex_", Reason::lock},
    {"do_futex", Reason::lock},
    {"do_semtimedop", Reason::lock},
    {"__do_semtimedop", Reason::lock},
    {"flock_lock_", Reason::lock},
    {"locks_lock_", Reason::lock},
    {"fcntl_setlk", Reason::lock},
    {"rwsem_down_", Reason::lock},
    {"__mutex_lock", Reason::lock},
    {"do_nanosleep", Reason::sleep},
    {"hrtimer_nanosleep", Reason::sleep},
    {"common_nsleep", Reason::sleep},
    {"timerfd_read", Reason::sleep},
    {"io_schedule", Reason::disk},
    {"folio_wait_", Reason::disk},
    {"folio_lock", Reason::disk},
    {"__folio_lock", Reason::disk},
    {"wait_on_page_", Reason::disk},
    {"__lock_page", Reason::disk},
    {"filemap_", Reason::disk},
    {"__filemap_", Reason::disk},
    {"bit_wait_io", Reason::disk},
    {"__wait_on_buffer", Reason::disk},
    {"submit_bio_wait", Reason::disk},
    {"blk_", Reason::disk},
    {"blkdev_", Reason::disk},
    {"jbd2_", Reason::disk},
    {"ext4_", Reason::disk},
    {"xfs_", Reason::disk},
    {"xlog_", Reason::disk},
    {"btrfs_", Reason::disk},
    {"f2fs_", Reason::disk},
    {"nfs_", Reason::disk},
    {"fuse_", Reason::disk},
    {"iomap_", Reason::disk},
    {"vfs_fsync", Reason::disk},
    {"do_fsync", Reason::disk},
    {"ksys_sync", Reason::disk},
    {"balance_dirty_pages", Reason::disk},
    {"read_events", Reason::disk},
    {"io_cqring_wait", Reason::disk},
    {"sk_wait_data", Reason::network},
    {"sk_stream_wait_", Reason::network},
    {"__skb_wait_for_more_packets", Reason::network},
    {"__skb_recv_", Reason::network},
    {"inet_csk_accept", Reason::network},
    {"inet_accept", Reason::network},
    {"inet_wait_for_connect", Reason::network},
    {"__inet_stream_connect", Reason::network},
    {"inet_stream_connect", Reason::network},
    {"tcp_", Reason::network},
    {"udp_", Reason::network},
    {"unix_", Reason::network},
    {"sock_", Reason::network},
    {"__sys_accept", Reason::network},
    {"__sys_connect", Reason::network},
    {"__sys_recv", Reason::network},
    {"__sys_send", Reason::network},
    {"pipe_", Reason::pipe},
    {"anon_pipe_", Reason::pipe},
    {"fifo_", Reason::pipe},
    {"wait_for_partner", Reason::pipe},
    {"eventfd_", Reason::pipe},
    {"ep_poll", Reason::poll},
    {"do_epoll_", Reason::poll},
    {"poll_schedule_timeout", Reason::poll},
    {"do_poll", Reason::poll},
    {"do_sys_poll", Reason::poll},
    {"do_select", Reason::poll},
    {"core_sys_select", Reason::poll},
    {"do_wait", Reason::process},
    {"__do_wait", Reason::process},
    {"kernel_wait", Reason::process},
    {"wait_for_vfork_done", Reason::process},
    {"kernel_clone", Reason::process},
    {"do_exit", Reason::process},
    {"sigsuspend", Reason::signal},
    {"__x64_sys_rt_sigsuspend", Reason::signal},
    {"do_sigtimedwait", Reason::signal},
    {"__x64_sys_pause", Reason::signal},
    {"ptrace_stop", Reason::signal},
    {"do_signal_stop", Reason::signal},
    {"do_jobctl_trap", Reason::signal},
};

// What runs between the wait and the switch to another thread.
constexpr std::string_view switching[] = {
    "__schedule",    "schedule",         "schedule_",           "preempt_schedule",
    "wait_woken",    "prepare_to_",      "wait_for_completion", "__wait_for_common",
    "__wait_on_bit", "out_of_line_wait", "do_wait_intr",
};

constexpr std::string_view fault_entries[] = {"asm_exc_page_fault", "exc_page_fault",
                                              "do_user_addr_fault"};
constexpr std::string_view call_entries[] = {"do_syscall_64", "entry_SYSCALL", "__x64_sys_",
                                             "do_int80_"};

// How an interrupt enters the kernel, or runs what it left over.
constexpr std::string_view interrupt_entries[] = {
    "asm_common_interrupt", "asm_sysvec_",  "sysvec_", "common_interrupt", "irq_exit",
    "__irq_exit",           "run_ksoftirqd"};

struct UserEntry {
  std::string_view name;
  Reason reason;
  LockKind lock = LockKind::none;
};

constexpr UserEntry user_table[] = {
    {"pthread_mutex_lock", Reason::lock, LockKind::mutex},
    {"lll_lock_wait", Reason::lock, LockKind::mutex},
    {"pthread_mutex_timedlock", Reason::lock, LockKind::mutex},
    {"pthread_mutex_clocklock", Reason::lock, LockKind::mutex},
    {"mtx_lock", Reason::lock, LockKind::mutex},
    {"lll_lock_wait_private", Reason::lock, LockKind::mutex},
    {"std::mutex::lock", Reason::lock, LockKind::mutex},
    {"parking_lot::raw_mutex::RawMutex::lock_slow", Reason::lock, LockKind::mutex},
    {"std::sys::sync::mutex::futex::Mutex::lock_contended", Reason::lock, LockKind::mutex},
    {"pthread_cond_wait", Reason::lock, LockKind::condition},
    {"pthread_cond_timedwait", Reason::lock, LockKind::condition},
    {"pthread_cond_clockwait", Reason::lock, LockKind::condition},
    {"cnd_wait", Reason::lock, LockKind::condition},
    {"std::condition_variable::wait", Reason::lock, LockKind::condition},
    {"pthread_rwlock_rdlock", Reason::lock, LockKind::rwlock},
    {"pthread_rwlock_wrlock", Reason::lock, LockKind::rwlock},
    {"sem_wait", Reason::lock, LockKind::semaphore},
    {"sem_timedwait", Reason::lock, LockKind::semaphore},
    {"semop", Reason::lock, LockKind::semaphore},
    {"pthread_barrier_wait", Reason::lock, LockKind::barrier},
    {"pthread_join", Reason::lock, LockKind::thread_end},
    {"std::thread::join", Reason::lock, LockKind::thread_end},
    {"pthread_once", Reason::lock, LockKind::once},
    {"nanosleep", Reason::sleep},
    {"clock_nanosleep", Reason::sleep},
    {"usleep", Reason::sleep},
    {"sleep", Reason::sleep},
    {"thrd_sleep", Reason::sleep},
    {"fsync", Reason::disk},
    {"fdatasync", Reason::disk},
    {"msync", Reason::disk},
    {"sync_file_range", Reason::disk},
    {"recv", Reason::network},
    {"recvfrom", Reason::network},
    {"recvmsg", Reason::network},
    {"accept", Reason::network},
    {"accept4", Reason::network},
    {"connect", Reason::network},
    {"send", Reason::network},
    {"sendto", Reason::network},
    {"sendmsg", Reason::network},
    {"poll", Reason::poll},
    {"ppoll", Reason::poll},
    {"select", Reason::poll},
    {"pselect", Reason::poll},
    {"epoll_wait", Reason::poll},
    {"epoll_pwait", Reason::poll},
    {"wait", Reason::process},
    {"waitpid", Reason::process},
    {"wait4", Reason::process},
    {"waitid", Reason::process},
    {"sigsuspend", Reason::signal},
    {"sigwait", Reason::signal},
    {"sigtimedwait", Reason::signal},
    {"pause", Reason::signal},
};

const UserEntry* find_user(std::string_view function) {
  function = function.substr(0, function.find_first_of("@("));
  if (function.starts_with("__")) { // the C library's own name
    function.remove_prefix(2);
  }
  const auto found = std::ranges::find(user_table, function, &UserEntry::name);
  return found == std::ranges::end(user_table) ? nullptr : &*found;
}

bool begins_with_one_of(std::string_view function, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(
      beginnings, [function](std::string_view begin) { return function.starts_with(begin); });
}

bool contains_one_of(std::span<const std::string_view> stack,
                     std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(
      stack, [&](std::string_view function) { return begins_with_one_of(function, beginnings); });
}

constexpr std::array<std::string_view, reasons> reason_words = {
    "lock",       "sleep",   "disk",   "network",   "pipe",   "poll",
    "page_fault", "process", "signal", "preempted", "unknown"};
constexpr std::array<std::string_view, 8> lock_words = {
    "", "mutex", "condition", "rwlock", "semaphore", "barrier", "thread_end", "once"};
constexpr std::array<std::string_view, 4> interrupt_words = {"other", "timer", "disk", "network"};

struct InterruptEntry {
  std::string_view begin;
  Interrupt interrupt;
};
constexpr InterruptEntry interrupt_table[] = {
    {"hrtimer_", Interrupt::timer},      {"process_timeout", Interrupt::timer},
    {"run_timer_", Interrupt::timer},    {"timerfd_", Interrupt::timer},
    {"blk_", Interrupt::disk},           {"bio_endio", Interrupt::disk},
    {"nvme_", Interrupt::disk},          {"scsi_", Interrupt::disk},
    {"virtblk_", Interrupt::disk},       {"net_rx_action", Interrupt::network},
    {"__napi_poll", Interrupt::network}, {"napi_", Interrupt::network},
    {"tcp_v4_rcv", Interrupt::network},  {"__netif_receive", Interrupt::network},
};

} // namespace

std::string_view word(Reason reason) {
  return reason_words[static_cast<std::size_t>(reason)];
}

std::optional<Reason> reason_of_word(std::string_view word) {
  const auto found = std::ranges::find(reason_words, word);
  return found == reason_words.end()
             ? std::nullopt
             : std::optional(static_cast<Reason>(found - reason_words.begin()));
}

std::string_view word(LockKind kind) {
  return lock_words[static_cast<std::size_t>(kind)];
}

std::string_view word(Interrupt interrupt) {
  return interrupt_words[static_cast<std::size_t>(interrupt)];
}

Reason reason_of_kernel(std::span<const std::string_view> stack) {
  if (contains_one_of(stack, fault_entries) && !contains_one_of(stack, call_entries)) {
    return Reason::page_fault;
  }
  for (const std::string_view function : stack) {
    for (const KernelEntry& entry : kernel_table) {
      if (function.starts_with(entry.begin)) {
        return entry.reason;
      }
    }
  }
  return Reason::unknown;
}

Reason usual_reason(std::string_view function) {
  const UserEntry* const found = find_user(function);
  return found == nullptr ? Reason::unknown : found->reason;
}

LockKind lock_kind(std::string_view function) {
  const UserEntry* const found = find_user(function);
  return found == nullptr ? LockKind::none : found->lock;
}

bool is_switching(std::string_view kernel_function) {
  return begins_with_one_of(kernel_function, switching);
}

Interrupt interrupt_of_kernel(std::span<const std::string_view> stack) {
  for (const std::string_view function : stack) {
    for (const InterruptEntry& entry : interrupt_table) {
      if (function.starts_with(entry.begin)) {
        return entry.interrupt;
      }
    }
  }
  return Interrupt::other;
}

// process_backlog() takes what a CPU sent to itself: loopback_xmit() puts it there.
bool is_sent_over_loopback(std::span<const std::string_view> stack) {
  constexpr std::string_view backlog[] = {"process_backlog"};
  constexpr std::string_view own_call[] = {"__local_bh_enable_ip", "do_softirq"};
  return contains_one_of(stack, backlog) && contains_one_of(stack, own_call) &&
         !contains_one_of(stack, interrupt_entries);
}

} // namespace ptlens::waits
