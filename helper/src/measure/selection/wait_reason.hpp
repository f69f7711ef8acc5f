// Why a thread was off-CPU during a call.
#pragma once

#include "cache/format/block.hpp"
#include "waits/reason.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ptlens::measure {

enum class WaitReason : std::uint8_t {
  blocked,   // it waited for something
  preempted, // it was runnable, and something else ran
  lock,      // this and the rest: what it waited for, by the recorded waits
  sleep,
  disk,
  network,
  pipe,
  poll,
  page_fault,
  process,
  signal,
  unknown,
};

inline constexpr std::array<std::string_view, 12> wait_reason_names = {
    "blocked", "preempted", "lock",       "sleep",   "disk",   "network",
    "pipe",    "poll",      "page_fault", "process", "signal", "unknown"};

[[nodiscard]] std::string_view name_of(WaitReason reason);
[[nodiscard]] std::optional<WaitReason> wait_reason_named(std::string_view name);

// Returns the reason as the recorded waits have it; nothing where every call has the time itself.
[[nodiscard]] std::optional<waits::Reason> recorded_reason(WaitReason reason);

// Reads how long each call of the block, with the calls that it made, was off-CPU for the reason,
// blocked or preempted, in ns. `out` has the size entry.calls.
void read_waited(const cache::Block& block, const cache::BlockEntry& entry, WaitReason reason,
                 std::span<std::uint64_t> out);

} // namespace ptlens::measure
