// Starts a program under ptrace(2), stopped before its first instruction.
#pragma once

#include "base/error.hpp"
#include "stepping/signals.hpp"
#include "stepping/tracee.hpp"

#include <string>
#include <vector>

namespace ptlens::ptsim {

// Environment entries "NAME=VALUE" are added where the name is not set. Errors: not_found, failed.
Result<Tracee> launch(const std::vector<std::string>& arguments,
                      const std::vector<std::string>& environment, const Signals& signals);

} // namespace ptlens::ptsim
