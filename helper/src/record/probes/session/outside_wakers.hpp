// Who, outside the recorded threads, wakes them: keeps the filter of the wakings up to date while
// threads begin and end, and learns the names of the wakers.
#pragma once

#include "base/error.hpp"
#include "record/machine/wait_events.hpp"
#include "record/probes/events/hit_events.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace ptlens::record {

class OutsideWakers {
public:
  OutsideWakers(const WaitEvents& waits, const Watched& watched)
      : waits_(waits), cpus_(watched.cpus),
        threads_(watched.threads.begin(), watched.threads.end()) {}

  // Opens the event. Errors: those of HitEvents::add_outside_wakings().
  Result<void> open(HitEvents& events);

  // Takes a record of any event; `from_outside`: whether it is of the event that this opened.
  // Returns the thread that was woken where it is a sample of that.
  std::optional<std::int32_t> take(std::span<const std::byte> record, bool from_outside);

  // Renews the filter where threads have begun, but not more often than every 100 ms.
  void renew(HitEvents& events, std::uint64_t now_ns);

  // Returns the records of the wakers' names, and of their processes'.
  [[nodiscard]] std::vector<std::vector<std::byte>> name_records() const;

private:
  struct Thread {
    std::string name = {};
    std::uint64_t named_ns = 0;
    std::int32_t parent = -1;
  };
  void take_of_others(std::span<const std::byte> record);
  void take_waker(std::int32_t pid, std::int32_t tid);
  [[nodiscard]] std::string name_of(std::int32_t tid) const;

  WaitEvents waits_;
  std::vector<int> cpus_;
  std::set<std::int32_t> threads_; // recorded ones
  bool changed_ = false;
  std::uint64_t renewed_ns_ = 0;
  std::map<std::int32_t, Thread> others_;             // that began, or got a name, meanwhile
  std::map<std::int32_t, std::int32_t> wakers_;       // process by thread
  std::map<std::int32_t, std::string> names_at_once_; // of wakers, from /proc
};

} // namespace ptlens::record
