// A stretch is long enough that each visit of a block reads many calls, and bounded for the memory.
#include "cache/reading/walk.hpp"

#include "base/cancellation.hpp"
#include "base/ordered_worker.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

namespace ptlens::cache {
namespace {

constexpr std::uint64_t shortest_stretch = 1 << 15;
constexpr std::uint64_t longest_stretch = 1 << 20;
constexpr std::uint64_t calls_per_visit = 64;

} // namespace

ThreadWalk::ThreadWalk(const CallCache& cache, std::span<const EdgeId> edges, std::uint32_t thread)
    : cache_(cache), size_(cache.calls_by_thread()[thread]) {
  for (const EdgeId edge : edges) {
    for (const BlockEntry& entry : cache.blocks(edge)) {
      if (entry.thread != thread) {
        continue;
      }
      const Cursor cursor{.entry = &entry, .edge = edge, .position = Block::Position(entry)};
      if (entry.extras != 0) {
        find_late(cursor);
      }
      waiting_.push_back(cursor);
    }
  }
  std::ranges::sort(late_, {}, [](const WalkedCall& call) {
    return std::tuple(call.start, index_of(call.order) - call.before, ~index_of(call.order));
  });
  std::ranges::stable_sort(waiting_, std::greater<>(),
                           [](const Cursor& cursor) { return cursor.entry->first_order; });
  stretch_ = std::clamp(calls_per_visit * waiting_.size(), shortest_stretch, longest_stretch);
}

// Reads some of the calls of the block that are numbered below `end`, or are damaged. Returns false
// where there are none.
template <class Take>
bool ThreadWalk::read_some(Cursor& cursor, const Block& block, std::uint64_t end,
                           const Take& take) {
  const BlockEntry& entry = *cursor.entry;
  const std::size_t first = cursor.next;
  std::array<std::uint32_t, together> all_orders;
  const auto most = std::span(all_orders).first(std::min(together, entry.calls - first));
  const Block::Position before = cursor.position;
  block.read_orders(cursor.position, first, most);
  const auto later = std::ranges::find_if(
      most, [&](std::uint32_t order) { return order >= end && order < size_; });
  const auto orders = std::span<const std::uint32_t>(most.begin(), later);
  if (later != most.end()) {
    cursor.position.order = orders.empty() ? before.order : orders.back();
  }
  cursor.next += static_cast<std::uint32_t>(orders.size());
  std::array<std::uint64_t, together> starts;
  std::array<std::uint64_t, together> latencies;
  std::array<std::uint64_t, together> children;
  std::array<std::uint32_t, together> distances;
  std::array<std::uint32_t, together> uncertainties;
  std::array<std::uint8_t, together> flags;
  const auto part = [&orders](auto& column) { return std::span(column).first(orders.size()); };
  block.read_starts(cursor.position, first, orders, part(starts));
  block.latency.read(part(latencies), first);
  block.read_children(latencies, part(children), first);
  block.distance.read(part(distances), first);
  block.uncertainty.read(part(uncertainties), first);
  block.flags.read(part(flags), first);
  for (std::size_t i = 0; i < orders.size(); ++i) {
    WalkedCall call{.order = stacks::CallId{orders[i]},
                    .edge = cursor.edge,
                    .start = starts[i],
                    .latency = latencies[i],
                    .children = children[i],
                    .uncertainty = uncertainties[i],
                    .end_unknown = (flags[i] & end_unknown_bit) != 0};
    if (distances[i] != 0) {
      call.parent = stacks::CallId{orders[i] - distances[i]};
    }
    if ((flags[i] & extra_bit) != 0 && cursor.next_extra < entry.extras) {
      const std::size_t extra = cursor.next_extra++;
      call.outside = block.outside[extra];
      call.off_cpu = block.blocked[extra] + block.preempted[extra];
      call.before = static_cast<std::uint32_t>(block.before[extra]);
    }
    take(call);
  }
  return !orders.empty();
}

void ThreadWalk::Stretch::store(const WalkedCall& call, Slot& slot) {
  constexpr std::uint64_t most = UINT32_MAX;
  slot = {.start = call.start,
          .latency = static_cast<std::uint32_t>(call.latency),
          .children = static_cast<std::uint32_t>(call.children),
          .edge = call.edge,
          .distance = call.parent == stacks::CallId::none
                          ? 0
                          : index_of(call.order) - index_of(call.parent),
          .uncertainty = static_cast<std::uint32_t>(call.uncertainty),
          .rest = 0};
  if ((call.outside | call.off_cpu) != 0 || call.end_unknown || call.latency > most ||
      call.children > most || call.uncertainty > most) [[unlikely]] {
    rests.push_back(call);
    slot.rest = static_cast<std::uint32_t>(rests.size());
  }
}

void ThreadWalk::find_late(const Cursor& from) {
  const auto block = cache_.block(*from.entry);
  if (!block || block->before.constant() == 0) {
    return;
  }
  Cursor cursor = from;
  const auto take = [this](const WalkedCall& call) {
    if (call.before != 0) {
      late_.push_back(call);
    }
  };
  while (cursor.next < from.entry->calls) {
    read_some(cursor, *block, UINT64_MAX, take);
  }
}

bool ThreadWalk::each_stretch(const std::function<bool(const Stretch&)>& use) {
  Stretch now;
  Stretch next;
  read(now, 0);
  std::optional<OrderedWorker> reader; // waits for what it does when it is destroyed
  for (std::uint64_t begin = 0; begin < size_ && !cancel_asked(); begin += stretch_) {
    const std::uint64_t following = begin + stretch_;
    if (following < size_) {
      if (!reader) {
        reader.emplace(1);
      }
      reader->submit([this, &next, following] { read(next, following); });
    }
    if (!use(now)) {
      return false;
    }
    if (reader) {
      reader->finish();
    }
    std::swap(now, next);
  }
  return true;
}

std::vector<WalkedCall> ThreadWalk::collect() {
  std::vector<WalkedCall> all = late_;
  static_cast<void>(each_stretch([&all](const Stretch& stretch) {
    for (std::size_t index = 0; index < stretch.slots.size(); ++index) {
      if (stretch.slots[index].edge != EdgeId::none) {
        all.push_back(stretch.call(index));
      }
    }
    return true;
  }));
  std::ranges::sort(all, {}, [](const WalkedCall& call) {
    const bool late = call.before != 0;
    const std::uint32_t order = index_of(call.order);
    return std::tuple(call.start, order - call.before, !late, late ? ~order : order);
  });
  return all;
}

void ThreadWalk::read(Stretch& stretch, std::uint64_t begin) {
  const std::uint64_t end = std::min<std::uint64_t>(size_, begin + stretch_);
  stretch.begin = begin;
  stretch.slots.assign(end - begin, Slot());
  stretch.rests.clear();
  while (!waiting_.empty() && waiting_.back().entry->first_order < end) {
    open_.push_back(waiting_.back());
    waiting_.pop_back();
  }
  for (Cursor& cursor : open_) {
    read_on(cursor, stretch, end);
  }
  std::erase_if(open_, [](const Cursor& cursor) { return cursor.next >= cursor.entry->calls; });
}

void ThreadWalk::read_on(Cursor& cursor, Stretch& stretch, std::uint64_t end) {
  const auto block = cache_.block(*cursor.entry);
  if (!block) {
    cursor.next = cursor.entry->calls;
    return;
  }
  const auto take = [&](const WalkedCall& call) {
    const std::uint32_t order = index_of(call.order);
    const std::uint64_t index = order - stretch.begin;
    if (order < stretch.begin || order >= size_ || stretch.slots[index].edge != EdgeId::none) {
      cache_.note_damage(); // two calls have one number, or the numbers do not ascend
    } else if (call.before == 0) {
      stretch.store(call, stretch.slots[index]);
    }
  };
  while (cursor.next < cursor.entry->calls && read_some(cursor, *block, end, take)) {
  }
}

bool ThreadWalk::comes_before(const WalkedCall& late, const WalkedCall& other) {
  return std::pair(late.start, index_of(late.order) - late.before) <=
         std::pair(other.start, index_of(other.order));
}

} // namespace ptlens::cache
