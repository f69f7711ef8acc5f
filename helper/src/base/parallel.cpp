// One thread per part.
#include "base/parallel.hpp"

#include "base/cancellation.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <sched.h>
#include <thread>
#include <vector>

namespace ptlens {

unsigned cores() {
  cpu_set_t mine;
  if (::sched_getaffinity(0, sizeof mine, &mine) != 0) { // fails with more than 1,024 processors
    return std::max(1U, std::thread::hardware_concurrency());
  }
  return std::max(1U, static_cast<unsigned>(CPU_COUNT(&mine)));
}

std::size_t parts_of(std::size_t units, std::size_t units_per_part) {
  constexpr unsigned most = 8;
  return std::clamp<std::size_t>(units / units_per_part, 1, std::min(cores(), most));
}

void do_parts(std::size_t parts, const std::function<void(std::size_t)>& do_part) {
  const Progress* const progress = current_progress();
  std::vector<std::jthread> threads;
  threads.reserve(parts);
  for (std::size_t part = 1; part < parts; ++part) {
    threads.emplace_back([&do_part, progress, part] {
      std::optional<Cancellable> scope;
      if (progress != nullptr) {
        scope.emplace(*progress);
      }
      do_part(part);
    });
  }
  do_part(0);
}

void do_tasks(std::size_t tasks, const std::function<void(std::size_t)>& do_task) {
  std::atomic<std::size_t> next = 0;
  do_parts(parts_of(tasks, 1), [&](std::size_t) {
    for (std::size_t task = next++; task < tasks; task = next++) {
      do_task(task);
    }
  });
}

} // namespace ptlens
