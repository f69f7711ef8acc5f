// Conditions on why a thread was off-CPU during a call.
#pragma once

#include "cache/format/block.hpp"
#include "waits/reason.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ptlens::measure {

// Nothing: it waited, whatever for ("blocked"). preempted: it was runnable, and something else ran.
using AskedReason = std::optional<waits::Reason>;
inline constexpr AskedReason blocked = std::nullopt;

[[nodiscard]] std::string_view name_of(AskedReason reason);
// Returns nothing where there is no such reason.
[[nodiscard]] std::optional<AskedReason> asked_reason(std::string_view name);
// Returns the names with commas between them.
[[nodiscard]] std::string asked_reason_names();

// Returns whether the recorded waits must be read for it; else every call has the time itself.
[[nodiscard]] bool is_of_recorded_waits(AskedReason reason);

// Read how long each call of the block, with the calls that it made, was blocked or preempted, in
// ns. `out` has the size entry.calls.
void read_blocked(const cache::Block& block, const cache::BlockEntry& entry,
                  std::span<std::uint64_t> out);
void read_preempted(const cache::Block& block, const cache::BlockEntry& entry,
                    std::span<std::uint64_t> out);

} // namespace ptlens::measure
