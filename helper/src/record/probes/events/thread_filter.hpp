// The filter of sched_waking that passes the wakings of some threads by all others
// (Documentation/trace/events.rst, "Event filtering").
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace ptlens::record {

// The kernel takes no longer filter than a page.
inline constexpr std::size_t longest_filter = 4000;

// Returns a condition on the woken thread and the waker. Where it would be too long, it also passes
// wakings of threads whose numbers lie between those of the threads, and wakings by the threads.
// `threads` must not be empty.
[[nodiscard]] std::string filter_of_outside_wakings(const std::set<std::int32_t>& threads);

} // namespace ptlens::record
