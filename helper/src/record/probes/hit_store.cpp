#include "record/probes/hit_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <linux/perf_event.h>

namespace ptlens::record {

void HitStore::keep(std::span<const std::byte> record) {
  if (!late_) {
    file_.append(record);
    return;
  }
  constexpr std::size_t tid_at = 20;
  constexpr std::size_t raw_at = 44;
  perf_event_header header{};
  std::memcpy(&header, record.data(), sizeof header);
  const std::uint64_t time_ns = time_of_record(record);
  if (header.type == PERF_RECORD_SAMPLE && !events_->is_of_wait(record)) {
    std::int32_t tid = -1;
    std::memcpy(&tid, record.data() + tid_at, sizeof tid);
    late_->add(tid, time_ns, record.subspan(raw_at));
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
