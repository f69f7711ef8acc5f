// Reasons by stacks of the kernel as Linux 6.1 and 6.18 show them, innermost function first.
#include "waits/reason.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ptlens::waits {
namespace {

using Stack = std::vector<std::string_view>;

TEST(Reasons, AreDecidedByTheInnermostKnownFunctionOfTheKernel) {
  const std::vector<std::pair<Stack, Reason>> known = {
      {{"__schedule", "schedule", "futex_do_wait", "__futex_wait", "futex_wait", "do_futex",
        "__x64_sys_futex", "do_syscall_64"},
       Reason::lock},
      {{"__schedule", "schedule", "futex_wait_queue", "futex_wait", "do_futex"}, Reason::lock},
      {{"__schedule", "schedule", "do_nanosleep", "hrtimer_nanosleep", "common_nsleep",
        "__x64_sys_clock_nanosleep", "do_syscall_64"},
       Reason::sleep},
      {{"__schedule", "schedule", "anon_pipe_read", "vfs_read", "ksys_read", "do_syscall_64"},
       Reason::pipe},
      {{"__schedule", "schedule", "pipe_read", "vfs_read", "ksys_read"}, Reason::pipe},
      {{"__schedule", "schedule", "schedule_hrtimeout_range_clock", "poll_schedule_timeout",
        "do_poll", "do_sys_poll", "__x64_sys_poll"},
       Reason::poll},
      {{"__schedule", "schedule", "schedule_hrtimeout_range_clock", "ep_poll", "do_epoll_wait"},
       Reason::poll},
      {{"__schedule", "schedule", "io_schedule", "folio_wait_bit_common", "folio_wait_writeback",
        "__filemap_fdatawait_range", "file_write_and_wait_range", "ext4_sync_file", "do_fsync"},
       Reason::disk},
      {{"__schedule", "schedule", "schedule_timeout", "wait_woken", "sk_wait_data",
        "tcp_recvmsg_locked", "tcp_recvmsg"},
       Reason::network},
      {{"__schedule", "schedule", "do_wait", "kernel_wait4", "do_syscall_64"}, Reason::process},
      {{"__schedule", "schedule", "sigsuspend", "__x64_sys_rt_sigsuspend"}, Reason::signal},
      {{"__schedule", "schedule", "some_new_driver", "do_syscall_64"}, Reason::unknown},
      {{}, Reason::unknown}};
  for (const auto& [stack, reason] : known) {
    EXPECT_EQ(reason_of_kernel(stack), reason) << (stack.size() > 2 ? stack[2] : "");
  }
}

TEST(Reasons, AFaultOfTheProgramIsAPageFaultAndOneInASystemCallIsNot) {
  const Stack fault = {
      "__schedule",    "schedule",        "io_schedule",    "folio_wait_bit_common",
      "filemap_fault", "handle_mm_fault", "exc_page_fault", "asm_exc_page_fault"};
  EXPECT_EQ(reason_of_kernel(fault), Reason::page_fault);
  Stack in_call = fault;
  in_call.insert(in_call.end(), {"vfs_write", "do_syscall_64"});
  EXPECT_EQ(reason_of_kernel(in_call), Reason::disk);
}

TEST(Reasons, FunctionsOfTheCLibraryHaveUsualReasonsAndKindsOfLocks) {
  EXPECT_EQ(usual_reason("pthread_mutex_lock@@GLIBC_2.2.5"), Reason::lock);
  EXPECT_EQ(lock_kind("__pthread_mutex_lock"), LockKind::mutex);
  EXPECT_EQ(lock_kind("pthread_cond_timedwait"), LockKind::condition);
  EXPECT_EQ(usual_reason("__poll"), Reason::poll);
  EXPECT_EQ(usual_reason("read"), Reason::unknown); // a file, a pipe or a socket
  EXPECT_EQ(lock_kind("poll"), LockKind::none);
}

TEST(Reasons, HaveOneWordEach) {
  for (std::size_t number = 0; number < reasons; ++number) {
    const auto reason = static_cast<Reason>(number);
    EXPECT_EQ(reason_of_word(word(reason)), reason);
  }
  EXPECT_EQ(reason_of_word("boredom"), std::nullopt);
}

TEST(Reasons, InterruptsHaveDevices) {
  EXPECT_EQ(interrupt_of_kernel(Stack{"try_to_wake_up", "hrtimer_wakeup", "hrtimer_interrupt"}),
            Interrupt::timer);
  EXPECT_EQ(interrupt_of_kernel(Stack{"try_to_wake_up", "blk_mq_end_request"}), Interrupt::disk);
  EXPECT_EQ(interrupt_of_kernel(Stack{"try_to_wake_up"}), Interrupt::other);
}

} // namespace
} // namespace ptlens::waits
