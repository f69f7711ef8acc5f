// Records: include/uapi/linux/perf_event.h.
#include "record/probes/events/hit_ring.hpp"

#include <algorithm>
#include <cstring>
#include <linux/perf_event.h>

namespace ptlens::record {
namespace {

bool may_be_dropped(std::span<const std::byte> record) {
  perf_event_header header{};
  if (record.size() < sizeof header) {
    return true;
  }
  std::memcpy(&header, record.data(), sizeof header);
  return header.type == PERF_RECORD_SAMPLE || header.type == PERF_RECORD_SWITCH ||
         header.type == PERF_RECORD_SWITCH_CPU_WIDE;
}

} // namespace

void HitRing::add(std::span<const std::byte> record, std::uint64_t time_ns) {
  entries_.push_back({.time_ns = time_ns, .record = {record.begin(), record.end()}});
  bytes_ += record.size();
  last_ns_ = time_ns;
  const auto is_old = [&](const Entry& entry) {
    return entry.time_ns + limits_.keep_ns < time_ns && entry.time_ns < protected_from_ns_;
  };
  while (!entries_.empty() && (bytes_ > limits_.keep_bytes || is_old(entries_.front()))) {
    const bool drop = may_be_dropped(entries_.front().record);
    dropped_ += drop ? 1 : 0;
    remove_first(!drop);
  }
}

double HitRing::stored_s() const {
  constexpr double ns_per_s = 1e9;
  return first_stored_ns_ == 0 ? 0 : static_cast<double>(last_ns_ - first_stored_ns_) / ns_per_s;
}

void HitRing::finish() {
  const auto first = std::ranges::find_if(
      entries_, [](const Entry& entry) { return may_be_dropped(entry.record); });
  first_stored_ns_ = first == entries_.end() ? 0 : first->time_ns;
  while (!entries_.empty()) {
    remove_first(true);
  }
}

void HitRing::remove_first(bool store) {
  const Entry first = std::move(entries_.front());
  entries_.pop_front();
  bytes_ -= first.record.size();
  if (store) {
    take_(first.record);
  }
}

} // namespace ptlens::record
