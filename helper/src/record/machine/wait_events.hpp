// The tracepoints that show why a thread left its CPU and who woke it: sched:sched_switch and
// sched:sched_waking, each with the kernel's stack, the user's registers and the top of the user's
// stack. The latter two are unwound later, because most programs and libraries have no frame
// pointers. sched_waking, not sched_wakeup, runs in the context of the thread that wakes another.
#pragma once

#include "base/note.hpp"
#include "record/machine/machine.hpp"
#include "record/request.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::record {

struct WaitEvents { // numbers in tracefs
  std::uint64_t switch_id = 0;
  std::uint64_t waking_id = 0;
};

// The part of the user's stack that is stored. It reaches through the functions of the C library to
// the one that called them.
inline constexpr std::uint32_t wait_stack_bytes = 1024;

// The registers that unwinding needs, as bits of asm/perf_regs.h: RBX, RBP, RSP, RIP, R12 to R15.
inline constexpr std::uint64_t wait_registers =
    1U << 1U | 1U << 6U | 1U << 7U | 1U << 8U | 0xfU << 20U;

// Returns the tracepoints. Errors: no_rights or unsupported, with the remedy.
[[nodiscard]] Result<WaitEvents> find_wait_events(const Machine& machine);

// Returns the note that waits have no reasons in this recording.
[[nodiscard]] Note waits_not_recorded(const std::string& why);
// Returns the note that only wakings by the recorded threads have names.
[[nodiscard]] Note outside_wakers_not_recorded(const std::string& why);

// Returns the tracepoints where the request wants them and the machine allows it. Otherwise a note
// says why not.
[[nodiscard]] std::optional<WaitEvents>
choose_wait_events(const Request& request, const Machine& machine, std::vector<Note>& notes);

} // namespace ptlens::record
