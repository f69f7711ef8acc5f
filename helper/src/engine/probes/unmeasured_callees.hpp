// Which of the probed functions call code without probes: their self time is unknown.
#pragma once

#include "record/probe_table.hpp"
#include "stacks/calls/call.hpp"
#include "symbols/address_space.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::engine {

// Returns the indices of the functions whose machine code calls a function without probes, or calls
// through a register or memory; ascending. A function whose code is not available is one of them.
// Functions that never return, such as abort(), do not count: they are in no complete call.
[[nodiscard]] std::vector<stacks::FunctionId>
with_unmeasured_callees(const stacks::Functions& functions, std::span<const record::Probe> probes,
                        const std::vector<const symbols::MappedCode*>& binaries);

} // namespace ptlens::engine
