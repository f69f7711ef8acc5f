// Why a thread was off-CPU during a call.
#pragma once

#include "cache/format/block.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ptlens::measure {

enum class WaitReason : std::uint8_t {
  blocked,   // it waited for something
  preempted, // it was runnable, and something else ran
};

inline constexpr std::array<std::string_view, 2> wait_reason_names = {"blocked", "preempted"};

[[nodiscard]] std::string_view name_of(WaitReason reason);
[[nodiscard]] std::optional<WaitReason> wait_reason_named(std::string_view name);

// Reads how long each call of the block, with the calls that it made, was off-CPU for the reason,
// in ns. `out` has the size entry.calls.
void read_waited(const cache::Block& block, const cache::BlockEntry& entry, WaitReason reason,
                 std::span<std::uint64_t> out);

} // namespace ptlens::measure
