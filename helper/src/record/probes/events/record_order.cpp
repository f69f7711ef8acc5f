#include "record/probes/events/record_order.hpp"

#include <algorithm>
#include <utility>

namespace ptlens::record {

void RecordOrder::add(std::span<const std::byte> record, std::uint64_t time_ns) {
  entries_.push_back({.time_ns = time_ns, .offset = bytes_.size(), .size = record.size()});
  bytes_.insert(bytes_.end(), record.begin(), record.end());
  latest_ns_ = std::max(latest_ns_, time_ns);
}

void RecordOrder::hand_on(const std::function<void(std::span<const std::byte>)>& take) {
  hand_on_until(std::exchange(horizon_ns_, latest_ns_), take);
}

void RecordOrder::hand_on_all(const std::function<void(std::span<const std::byte>)>& take) {
  hand_on_until(latest_ns_, take);
}

void RecordOrder::hand_on_until(std::uint64_t time_ns,
                                const std::function<void(std::span<const std::byte>)>& take) {
  std::ranges::stable_sort(entries_, {}, &Entry::time_ns);
  const auto end = std::ranges::upper_bound(entries_, time_ns, {}, &Entry::time_ns);
  for (auto entry = entries_.begin(); entry != end; ++entry) {
    take(std::span<const std::byte>(bytes_).subspan(entry->offset, entry->size));
  }
  std::vector<std::byte> rest;
  for (auto entry = end; entry != entries_.end(); ++entry) {
    const auto bytes = std::span<const std::byte>(bytes_).subspan(entry->offset, entry->size);
    entry->offset = rest.size();
    rest.insert(rest.end(), bytes.begin(), bytes.end());
  }
  bytes_ = std::move(rest);
  entries_.erase(entries_.begin(), end);
}

} // namespace ptlens::record
