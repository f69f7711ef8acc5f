#include "measure/selection/wait_reason.hpp"

#include <algorithm>
#include <cstddef>

namespace ptlens::measure {

std::string_view name_of(WaitReason reason) {
  return wait_reason_names.at(static_cast<std::size_t>(reason));
}

std::optional<WaitReason> wait_reason_named(std::string_view name) {
  const auto at = std::ranges::find(wait_reason_names, name);
  return at == wait_reason_names.end()
             ? std::nullopt
             : std::optional(static_cast<WaitReason>(at - wait_reason_names.begin()));
}

std::optional<waits::Reason> recorded_reason(WaitReason reason) {
  if (reason == WaitReason::blocked || reason == WaitReason::preempted) {
    return std::nullopt;
  }
  return waits::reason_of_word(name_of(reason));
}

void read_waited(const cache::Block& block, const cache::BlockEntry& entry, WaitReason reason,
                 std::span<std::uint64_t> out) {
  std::ranges::fill(out, 0);
  const cache::Column& column = reason == WaitReason::blocked ? block.blocked : block.preempted;
  block.each_extra(entry, [&](std::size_t call, std::size_t extra) { out[call] = column[extra]; });
}

} // namespace ptlens::measure
