#include "record/probe_table.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ptlens::record {
namespace {

auto order(const Probe& probe) {
  return std::tuple(probe.event_id, probe.address, std::string_view(probe.binary));
}

} // namespace

std::optional<std::uint64_t> event_of(std::span<const Probe> probes, Probe::Kind kind) {
  const auto probe = std::ranges::find(probes, kind, &Probe::kind);
  return probe == probes.end() ? std::nullopt : std::optional(probe->event_id);
}

ProbeTable::ProbeTable(std::vector<Probe> probes) : probes_(std::move(probes)) {
  std::ranges::sort(probes_, {}, order);
}

const Probe* ProbeTable::find(std::uint64_t event_id, std::string_view binary,
                              std::uint64_t address) const {
  const std::tuple key(event_id, address, binary);
  const auto found = std::ranges::lower_bound(probes_, key, {}, order);
  return found != probes_.end() && order(*found) == key ? &*found : nullptr;
}

} // namespace ptlens::record
