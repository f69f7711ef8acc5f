// What ptsim must know of x86-64 Linux system calls.
#pragma once

#include "stepping/tracee.hpp"

#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace ptlens::ptsim {

// How long the call sleeps if nothing wakes it, ns; nothing for calls that wait for something else.
// `registers` are those at the call.
[[nodiscard]] std::optional<std::uint64_t> sleep_time(pid_t pid, std::uint64_t number,
                                                      const Registers& registers);
// Whether it gives the calling thread a name.
[[nodiscard]] bool names_thread(std::uint64_t number, const Registers& registers);
// May add, move or remove executable mappings.
[[nodiscard]] bool changes_mappings(std::uint64_t number);
[[nodiscard]] bool returns_from_handler(std::uint64_t number);

// Whether the value in rax at a stop is the kernel's own note to restart the system call.
[[nodiscard]] bool asks_for_restart(std::uint64_t result);

} // namespace ptlens::ptsim
