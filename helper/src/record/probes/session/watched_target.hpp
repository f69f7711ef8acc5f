// The threads and processes of a request's target.
#pragma once

#include "record/probes/events/hit_events.hpp"
#include "record/request.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptlens::record {

// Returns what is watched now. `program`: process of the started program, -1: none.
[[nodiscard]] Watched watched_by(const Request& request, std::int32_t program);

using Records = std::vector<std::vector<std::byte>>;
// Returns the records of the processes that run already.
[[nodiscard]] Records records_of(const Request& request);

} // namespace ptlens::record
