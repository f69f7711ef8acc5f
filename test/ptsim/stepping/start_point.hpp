// Runs a program at full speed to where its tracing is to begin.
#pragma once

#include "base/error.hpp"
#include "code/places.hpp"
#include "stepping/signals.hpp"
#include "stepping/tracee.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ptlens::ptsim {

// Threads that are stopped, the main one first.
using Tracees = std::vector<std::unique_ptr<Tracee>>;

// Runs all threads, and those that they make, until control is at the address in any of them, and
// stops them. False: the program ended before, or `give_up` says so. Errors: failed.
Result<bool> run_until(Tracees& threads, std::uint64_t address, Signals& signals,
                       const std::function<bool()>& give_up);

// AT_ENTRY: the program's own first instruction, after the dynamic linker's work; 0: not known.
[[nodiscard]] std::uint64_t program_entry(pid_t pid);

// Address in the process of a function of its executable, or of a number: an ELF address in it, or
// else an address in the process. Errors: not_found.
Result<std::uint64_t> resolve_place(pid_t pid, Places& places, const std::string& place);

} // namespace ptlens::ptsim
