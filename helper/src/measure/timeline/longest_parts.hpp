// What the time of calls went to: the functions that they called directly, their own waiting, and
// their own instructions.
#pragma once

#include "measure/measurement.hpp"
#include "measure/places/wait_places.hpp"
#include "measure/selection/call_subset.hpp"
#include "waits/waits.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ptlens::measure {

struct CallPart {
  enum class Kind : std::uint8_t { call, blocked, preempted, self };
  Kind kind = Kind::self;
  stacks::FunctionId function = stacks::FunctionId::none; // that was called
  std::uint64_t calls = 0;                                // of that function
  std::uint64_t time = 0;                                 // ns
  std::uint64_t off_cpu = 0;                              // ns of it
  std::optional<WaitCause> cause = {};                    // of most of the waiting in it

  bool operator==(const CallPart&) const = default;
};

// Returns the longest parts of each row, the longest first, at most `most` of each. `waits`: null:
// causes are not known.
[[nodiscard]] std::vector<std::vector<CallPart>> longest_parts(const Measurement& measurement,
                                                               const CallSubset& rows,
                                                               const waits::Waits* waits,
                                                               std::size_t most);

// Returns "call", "blocked", "preempted" or "self".
[[nodiscard]] std::string_view word(CallPart::Kind kind);

} // namespace ptlens::measure
