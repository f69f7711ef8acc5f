// Parts of one task on several threads at once.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace ptlens {

// Returns the number of processors that this process may run on, at least one. Taskset or a
// container's cpuset can make it smaller than the number in the machine.
[[nodiscard]] unsigned cores();

// Returns how many parts to make of `units` units of work, each of at least `units_per_part`: at
// least one, at most cores(), and at most 8, beyond which memory is the limit.
[[nodiscard]] std::size_t parts_of(std::size_t units, std::size_t units_per_part);

// Calls `do_part` with 0 to parts - 1, each on its own thread, the first on the caller's. Returns
// when all are done. Every part belongs to the caller's Progress (see Cancellable).
void do_parts(std::size_t parts, const std::function<void(std::size_t)>& do_part);

// Divides the units among the parts, in order: calls `use(part, slice)` for each part, on a thread
// of its own.
template <class Unit, class Part, class Use>
void do_slices(std::span<const Unit> units, std::vector<Part>& parts, const Use& use) {
  do_parts(parts.size(), [&](std::size_t part) {
    const std::size_t begin = part * units.size() / parts.size();
    const std::size_t end = (part + 1) * units.size() / parts.size();
    use(parts[part], units.subspan(begin, end - begin));
  });
}

// Calls `do_task` with 0 to tasks - 1, on at most cores() threads. Each thread takes the next task
// when it has done one. Returns when all are done.
void do_tasks(std::size_t tasks, const std::function<void(std::size_t)>& do_task);

} // namespace ptlens
