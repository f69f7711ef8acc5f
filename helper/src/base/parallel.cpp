// One thread a part.
#include "base/parallel.hpp"

#include "base/cancellation.hpp"

#include <algorithm>
#include <optional>
#include <thread>
#include <vector>

namespace ptlens {

std::size_t parts_of(std::size_t units, std::size_t units_a_part) {
  constexpr unsigned most = 8;
  const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1U, most);
  return std::clamp<std::size_t>(units / units_a_part, 1, cores);
}

void do_parts(std::size_t parts, const std::function<void(std::size_t)>& do_part) {
  const Progress* const progress = worked_for();
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

} // namespace ptlens
