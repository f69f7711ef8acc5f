// Writes the records of a session in the order of time: all of them, or those of the last seconds.
#pragma once

#include "base/error.hpp"
#include "base/note.hpp"
#include "record/manifest.hpp"
#include "record/probes/events/hit_events.hpp"
#include "record/probes/events/hit_ring.hpp"
#include "record/probes/events/record_order.hpp"
#include "record/probes/session/data_file.hpp"
#include "record/probes/session/late_calls.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace ptlens::record {

class HitStore {
public:
  // `events`: they must outlive the store. `snapshot`: where set, only the last seconds are stored.
  HitStore(DataFile file, const HitEvents& events, std::optional<LateCalls> snapshot,
           std::uint64_t slower_than_ns)
      : file_(std::move(file)), events_(&events), late_(std::move(snapshot)),
        slower_than_ns_(slower_than_ns) {}
  HitStore(const HitStore&) = delete;
  HitStore& operator=(const HitStore&) = delete;

  // Takes a record of any buffer. A sample must have a thread and a payload.
  void add(std::span<const std::byte> record, std::uint64_t time_ns) {
    order_.add(record, time_ns);
  }
  // Every buffer has given the records that it had at the time of the previous call.
  void hand_on();
  // Stores the rest. Removes from `measured` what is not stored.
  std::vector<Note> finish(std::vector<Interval>& measured);

  [[nodiscard]] DataFile& file() { return file_; }
  [[nodiscard]] bool is_snapshot() const { return late_.has_value(); }
  // Returns true where a call took longer than the limit.
  [[nodiscard]] bool caught() const { return late_ && late_->caught(); }

private:
  void keep(std::span<const std::byte> record);

  DataFile file_;
  const HitEvents* events_;
  RecordOrder order_;
  std::optional<LateCalls> late_;
  std::uint64_t slower_than_ns_ = 0;
  HitRing ring_ = HitRing({}, [this](std::span<const std::byte> record) { file_.append(record); });
};

} // namespace ptlens::record
