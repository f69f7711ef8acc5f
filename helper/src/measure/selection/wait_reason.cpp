#include "measure/selection/wait_reason.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace ptlens::measure {

namespace {

constexpr std::string_view blocked_name = "blocked";

void read_extra(const cache::Block& block, const cache::BlockEntry& entry,
                const cache::Column& column, std::span<std::uint64_t> out) {
  std::ranges::fill(out, 0);
  block.each_extra(entry, [&](std::size_t call, std::size_t extra) { out[call] = column[extra]; });
}

} // namespace

std::string_view name_of(AskedReason reason) {
  return reason ? waits::word(*reason) : blocked_name;
}

std::optional<AskedReason> asked_reason(std::string_view name) {
  if (name == blocked_name) {
    return blocked;
  }
  const auto reason = waits::reason_of_word(name);
  return reason ? std::optional<AskedReason>(reason) : std::nullopt;
}

std::string asked_reason_names() {
  std::string names = fmt::format("{}, {}", blocked_name, waits::word(waits::Reason::preempted));
  for (std::size_t number = 0; number < waits::reasons; ++number) {
    const auto reason = static_cast<waits::Reason>(number);
    if (reason != waits::Reason::preempted) {
      names += fmt::format(", {}", waits::word(reason));
    }
  }
  return names;
}

bool is_of_recorded_waits(AskedReason reason) {
  return reason && *reason != waits::Reason::preempted;
}

void read_blocked(const cache::Block& block, const cache::BlockEntry& entry,
                  std::span<std::uint64_t> out) {
  read_extra(block, entry, block.blocked, out);
}

void read_preempted(const cache::Block& block, const cache::BlockEntry& entry,
                    std::span<std::uint64_t> out) {
  read_extra(block, entry, block.preempted, out);
}

} // namespace ptlens::measure
