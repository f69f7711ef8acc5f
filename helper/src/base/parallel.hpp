// Parts of one piece of work on several threads at once.
#pragma once

#include <cstddef>
#include <functional>

namespace ptlens {

// Processors that this process may run on, which may be fewer than the machine has: taskset, a
// container's cpuset. At least one.
[[nodiscard]] unsigned cores();

// As many parts as there are units of work for, each of at least `units_a_part`, but no more than
// cores(), and than the memory keeps busy (8); at least one.
[[nodiscard]] std::size_t parts_of(std::size_t units, std::size_t units_a_part);

// Calls `do_part` with 0 to parts - 1, each on a thread of its own, the first on the caller's.
// Returns when all are done. All are Cancellable where the caller is.
void do_parts(std::size_t parts, const std::function<void(std::size_t)>& do_part);

} // namespace ptlens
