// Parents are opened before their children, so that one pass in the order of opening does it; a
// parent that was found late is settled when its first child asks for it.
#include "measure/selection/ancestry.hpp"

#include <algorithm>

namespace ptlens::measure {

Ancestry::Ancestry(const cache::CallCache& store, std::span<const std::uint32_t> edges)
    : store_(store), blocks_(store.thread_count()), sizes_(store.calls_by_thread()) {
  for (const std::uint32_t edge : edges) {
    for (const cache::BlockEntry& block : store.blocks(edge)) {
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
    const auto block = store_.block(*entry);
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
  settled_.clear();
}

void Ancestry::settle() {
  const auto size = static_cast<std::uint32_t>(marks_.size());
  for (std::uint32_t order = 0; order < size; ++order) {
    const std::uint32_t parent = order - distance_[order];
    if (parent > order) {
      settle_late(parent);
    }
    marks_[order] = static_cast<Marks>(marks_[order] | marks_[parent]);
  }
}

void Ancestry::settle_late(std::uint32_t order) {
  settled_.resize(marks_.size());
  way_.clear();
  std::uint32_t at = order;
  while (!settled_[at]) {
    settled_[at] = true; // no way goes round, whatever the file says
    way_.push_back(at);
    at -= distance_[at];
  }
  Marks marks = marks_[at];
  while (!way_.empty()) {
    marks = static_cast<Marks>(marks | marks_[way_.back()]);
    marks_[way_.back()] = marks;
    way_.pop_back();
  }
}

} // namespace ptlens::measure
