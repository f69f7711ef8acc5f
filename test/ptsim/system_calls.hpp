// What ptsim must know of x86-64 Linux system calls.
#pragma once

#include <cstdint>

namespace ptlens::ptsim {

// Always gives the processor away (sleeps).
[[nodiscard]] bool sleeps(std::uint64_t number);
// May give the processor away for long: waits for something.
[[nodiscard]] bool may_wait(std::uint64_t number);
// May add, move or remove executable mappings.
[[nodiscard]] bool changes_mappings(std::uint64_t number);
[[nodiscard]] bool returns_from_handler(std::uint64_t number);

// Whether the value in rax at a stop is the kernel's own note to restart the system call.
[[nodiscard]] bool asks_for_restart(std::uint64_t result);

} // namespace ptlens::ptsim
