// The cost of probes, measured once per boot and kernel and kept in the user's cache folder.
#pragma once

#include "record/machine/boot_files.hpp"
#include "record/probes/cost/probe_cost.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ptlens::record {

// Returns the text of the file.
[[nodiscard]] std::string write_cost(const ProbeCost& cost, const BootedKernel& kernel);

// Returns nothing for the text of another boot or kernel, or of a broken file.
[[nodiscard]] std::optional<ProbeCost> parse_cost(std::string_view text,
                                                  const BootedKernel& kernel);

// Returns the kept cost, or measures and keeps it. Errors: those of measure_probe_cost.
[[nodiscard]] Result<ProbeCost> known_probe_cost(const Machine& machine);

} // namespace ptlens::record
