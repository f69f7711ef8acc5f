// Parents are opened before their children, so that one pass in the order of opening suffices. The
// marks of a parent that was found late are computed when its first child needs them.
#include "measure/selection/ancestry.hpp"

#include <algorithm>

namespace ptlens::measure {

Ancestry::Ancestry(const cache::CallCache& cache, std::span<const cache::EdgeId> edges)
    : cache_(cache), blocks_(cache.thread_count()), sizes_(cache.calls_by_thread()) {
  for (const cache::EdgeId edge : edges) {
    for (const cache::BlockEntry& block : cache.blocks(edge)) {
      blocks_[block.thread].push_back(&block);
    }
  }
}

void Ancestry::enter(std::uint32_t thread) {
  const std::uint32_t size = blocks_[thread].empty() ? 0 : sizes_[thread];
  distance_.assign(size, 0);
  marks_.resize(size);
  clear();
  std::vector<std::uint32_t> orders;
  std::vector<std::uint32_t> distances;
  for (const cache::BlockEntry* const entry : blocks_[thread]) {
    const auto block = cache_.block(*entry);
    if (!block) {
      continue;
    }
    orders.resize(entry->calls);
    distances.resize(entry->calls);
    block->read_orders(*entry, orders);
    block->distance.read(std::span(distances));
    for (std::size_t i = 0; i < orders.size(); ++i) {
      if (orders[i] < size && orders[i] - distances[i] < size) {
        distance_[orders[i]] = distances[i];
      }
    }
  }
}

void Ancestry::clear() {
  std::ranges::fill(marks_, Marks{0});
  done_.clear();
}

void Ancestry::propagate() {
  const auto size = static_cast<std::uint32_t>(marks_.size());
  for (std::uint32_t order = 0; order < size; ++order) {
    const std::uint32_t parent = order - distance_[order];
    if (parent > order) {
      propagate_to(parent);
    }
    marks_[order] = static_cast<Marks>(marks_[order] | marks_[parent]);
  }
}

void Ancestry::propagate_to(std::uint32_t late_parent) {
  done_.resize(marks_.size());
  path_.clear();
  std::uint32_t at = late_parent;
  while (!done_[at]) {
    done_[at] = true; // the loop ends even where a damaged file contains a cycle
    path_.push_back(at);
    at -= distance_[at];
  }
  Marks marks = marks_[at];
  while (!path_.empty()) {
    marks = static_cast<Marks>(marks | marks_[path_.back()]);
    marks_[path_.back()] = marks;
    path_.pop_back();
  }
}

} // namespace ptlens::measure
