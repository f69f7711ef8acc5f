#include "record/probes/session/hit_store.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptlens::record {

void HitStore::keep(std::span<const std::byte> record) {
  if (!late_) {
    file_.append(record);
    return;
  }
  const std::uint64_t time_ns = time_of_record(record);
  if (const auto hit = is_sample(record) && !events_->is_of_wait(record) ? hit_of_sample(record)
                                                                         : std::nullopt) {
    late_->add(hit->tid, time_ns, payload_of_sample(record));
  }
  ring_.add(record, time_ns);
}

void HitStore::hand_on() {
  if (late_) { // a call may take longer than the ring is long
    ring_.protect(late_->oldest_start());
  }
  order_.hand_on([this](std::span<const std::byte> record) { keep(record); });
}

std::vector<Note> HitStore::finish(std::vector<Interval>& measured) {
  std::vector<Note> notes;
  order_.hand_on_all([this](std::span<const std::byte> record) { keep(record); });
  if (!late_) {
    return notes;
  }
  ring_.finish();
  const std::uint64_t first_ns = ring_.first_stored_ns();
  std::erase_if(measured, [&](const Interval& each) { return each.end_ns < first_ns; });
  if (!measured.empty()) {
    measured.front().begin_ns = std::max(measured.front().begin_ns, first_ns);
  }
  if (ring_.dropped() != 0) {
    notes.push_back(make_note("snapshot_of_probes",
                              "this is a snapshot. It contains only the last {} s",
                              fmt::format("{:.1f}", ring_.stored_s())));
  }
  if (slower_than_ns_ != 0) {
    notes.push_back(late_->note());
  }
  return notes;
}

} // namespace ptlens::record
