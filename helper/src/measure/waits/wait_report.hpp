// What a function, or a whole recording, waited for: waits grouped by reason and place, and by who
// ended them. All times are in ns.
#pragma once

#include "measure/places/source_place.hpp"
#include "stacks/calls/call.hpp"
#include "waits/waits.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ptlens::measure {

// Figures of some waits. Percentiles are of the nearest rank.
struct WaitTotals {
  std::uint64_t intervals = 0;
  std::uint64_t calls = 0; // of the function, in which they are
  std::uint64_t total = 0;
  std::uint64_t p50 = 0;
  std::uint64_t p99 = 0;
  std::uint64_t max = 0;
};

struct WakerRow {
  waits::Waker::Kind kind = waits::Waker::Kind::unknown;
  waits::Interrupt interrupt = waits::Interrupt::other;
  bool likely = false;         // inferred from a call that ended just before
  std::string thread = {};     // name; empty: none
  std::int32_t tid = -1;       // of the last one; threads of one name are one row
  std::string process = {};    // name of its process, if it is another one; empty: the same
  std::int32_t pid = -1;       // of the last such process; processes of one name are one row
  std::uint64_t processes = 0; // of that name
  SourcePlace place = {};      // in the first function outside the system's libraries
  std::string called = {};     // of a system library, by it
  std::uint64_t intervals = 0;
  std::uint64_t total = 0; // of the waits that it ended
};

struct WaitRow {
  waits::Reason reason = waits::Reason::unknown;
  bool likely = false; // inferred from the function that was called
  waits::LockKind lock = waits::LockKind::none;
  SourcePlace place = {};  // that waited
  std::string called = {}; // the function of a system library by which it waited
  std::string kernel = {}; // the function of the kernel in which it waited
  WaitTotals totals = {};
  std::vector<WakerRow> wakers = {}; // the greatest total first
};

struct WaitReport {
  std::optional<stacks::FunctionId> function; // nothing: the whole recording
  bool recorded = false;                      // with reasons
  std::uint64_t calls = 0;                    // of the function that were looked at
  WaitTotals totals = {};
  std::vector<std::pair<waits::Reason, WaitTotals>> reasons = {}; // the greatest total first
  std::vector<WaitRow> rows = {};                                 // the same
};

} // namespace ptlens::measure
