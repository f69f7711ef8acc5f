// The last seconds of a recording with probes: hits and context switches that are older, or too
// many, are dropped. What describes processes (mappings, names, starts, ends) is never dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

namespace ptlens::record {

class HitRing {
public:
  struct Limits {
    std::uint64_t keep_ns = 10'000'000'000;
    std::size_t keep_bytes = std::size_t{128} << 20;
  };
  using Take = std::function<void(std::span<const std::byte> record)>;

  // `take` receives, in the order of time, each record that must be stored.
  HitRing(const Limits& limits, Take take) : limits_(limits), take_(std::move(take)) {}

  // Takes the next record in the order of time, its header included.
  void add(std::span<const std::byte> record, std::uint64_t time_ns);
  // From now on, only the limit of bytes drops records of this time or later.
  void protect(std::uint64_t from_ns) { protected_from_ns_ = from_ns; }
  // Passes on everything that is left.
  void finish();

  // Returns the number of records that were dropped.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }
  // Return the time of the first hit that finish() passed on, and the seconds from there to the
  // last record; 0 where there was none.
  [[nodiscard]] std::uint64_t first_stored_ns() const { return first_stored_ns_; }
  [[nodiscard]] double stored_s() const;

private:
  struct Entry {
    std::uint64_t time_ns = 0;
    std::vector<std::byte> record;
  };
  void remove_first(bool store);

  Limits limits_;
  Take take_;
  std::deque<Entry> entries_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t first_stored_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t protected_from_ns_ = UINT64_MAX;
};

} // namespace ptlens::record
