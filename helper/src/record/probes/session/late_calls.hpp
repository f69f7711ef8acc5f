// Finds the first call of the measured functions that took longer than a limit, in the hits of a
// recording while it runs.
#pragma once

#include "base/note.hpp"
#include "record/probe_table.hpp"
#include "record/probes/session/slow_call_watch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>

namespace ptlens::record {

class LateCalls {
public:
  // `function`: its name, for the note. A limit of 0 finds none.
  LateCalls(std::string function, std::span<const Probe> probes, std::uint64_t slower_than_ns);

  // Takes the next sample in the order of time. `raw`: its payload, as Manifest describes it.
  void add(std::int32_t tid, std::uint64_t time_ns, std::span<const std::byte> raw);

  [[nodiscard]] const std::optional<SlowCall>& caught() const { return caught_; }
  // Returns when the oldest call that has not ended began; UINT64_MAX where there is none.
  [[nodiscard]] std::uint64_t oldest_start() const { return timer_.oldest_start(); }
  // Returns the remark about the call that was caught, or that none was.
  [[nodiscard]] Note note() const;

private:
  std::string function_;
  std::uint64_t slower_than_ns_ = 0;
  std::set<std::uint64_t> entries_; // event ids, of the measured functions only
  std::set<std::uint64_t> exits_;
  std::set<std::uint64_t> returns_;
  std::set<std::uint64_t> restarts_;
  std::set<std::uint64_t> of_goroutines_;
  std::set<std::uint64_t> goroutine_ends_; // not only of the measured functions
  CallTimer timer_;
  std::uint64_t calls_ = 0; // that were timed
  std::optional<SlowCall> caught_;
};

// Returns the remark of a recording that waited for a slow call of the function.
[[nodiscard]] Note slow_call_note(const std::string& function, const std::optional<SlowCall>& slow,
                                  std::uint64_t calls, std::uint64_t slower_than_ns);

} // namespace ptlens::record
