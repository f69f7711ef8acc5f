// A stretch is long enough that each visit of a block reads many calls, and bounded for the memory.
#include "cache/reading/walk.hpp"

#include "base/cancellation.hpp"
#include "base/ordered_worker.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ptlens::cache {
namespace {

constexpr std::uint64_t shortest_stretch = 1 << 15;
constexpr std::uint64_t longest_stretch = 1 << 20;
constexpr std::uint64_t calls_per_visit = 64;

} // namespace

ThreadWalk::ThreadWalk(const CallCache& cache, std::span<const EdgeId> edges,
                       std::span<const EdgeId> skipped, std::uint32_t thread)
    : cache_(cache), size_(cache.calls_by_thread()[thread]) {
  for (const EdgeId edge : edges) {
    for (const BlockEntry& entry : cache.blocks(edge)) {
      if (entry.thread == thread) {
        add_block(edge, entry);
      }
    }
  }
  for (const EdgeId edge : skipped) {
    for (const BlockEntry& entry : cache.blocks(edge)) {
      if (entry.thread == thread && entry.extras != 0) {
        add_block(edge, entry);
      }
    }
  }
  std::ranges::sort(late_, {}, [](const WalkedCall& call) {
    return std::tuple(call.start, index_of(call.order) - call.before, ~index_of(call.order));
  });
  std::ranges::stable_sort(waiting_, std::greater<>(),
                           [](const Cursor& cursor) { return cursor.entry->first_order; });
  stretch_ = std::clamp(calls_per_visit * waiting_.size(), shortest_stretch, longest_stretch);
}

void ThreadWalk::add_block(EdgeId edge, const BlockEntry& entry) {
  const Cursor cursor{.entry = &entry, .edge = edge, .position = Block::Position(entry)};
  if (entry.extras != 0) {
    find_late(cursor);
  }
  waiting_.push_back(cursor);
}

// Reads some of the calls of the block that are numbered below `end`, or are damaged. Returns false
// where there are none.
template <class Take, class Expect>
bool ThreadWalk::read_some(Cursor& cursor, const Block& block, std::uint64_t end, const Take& take,
                           const Expect& expect) {
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
  for (const std::uint32_t order : orders) {
    expect(order);
  }
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

bool ThreadWalk::Stretch::store(const WalkedCall& call, std::size_t index, std::size_t reader) {
  constexpr std::uint64_t most = UINT32_MAX;
  Slot& slot = slots[index];
  // In a damaged cache, both readers can have a call for the slot.
  const auto set = [](auto& member, std::uint64_t value) {
    using Member = std::remove_reference_t<decltype(member)>;
    std::atomic_ref(member).store(static_cast<Member>(value), std::memory_order_relaxed);
  };
  if (std::atomic_ref(slot.edge).load(std::memory_order_relaxed) != EdgeId::none) {
    return false;
  }
  set(slot.edge, index_of(call.edge));
  set(slot.start, call.start);
  set(slot.latency, call.latency);
  set(slot.children, call.children);
  set(slot.distance,
      call.parent == stacks::CallId::none ? 0 : index_of(call.order) - index_of(call.parent));
  set(slot.uncertainty, call.uncertainty);
  if ((call.outside | call.off_cpu) != 0 || call.end_unknown || call.latency > most ||
      call.children > most || call.uncertainty > most) [[unlikely]] {
    set(slot.rest, rests[reader].size() * readers + reader + 1);
    rests[reader].push_back(call);
  }
  return true;
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
    read_some(cursor, *block, UINT64_MAX, take, [](std::uint32_t) {});
  }
}

bool ThreadWalk::each_stretch(const std::function<bool(const Stretch&)>& use) {
  Stretch now;
  Stretch next;
  OrderedWorker reader(1); // waits for what it does when it is destroyed
  for (std::uint64_t begin = 0; begin < size_ + stretch_ && !cancel_asked(); begin += stretch_) {
    begin_reading(next, begin);
    reader.submit([this, &next] { read_share(next, 0); });
    if (!use(now)) {
      return false;
    }
    read_share(next, 1);
    reader.finish();
    std::erase_if(open_, [](const Cursor& cursor) { return cursor.next >= cursor.entry->calls; });
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

void ThreadWalk::begin_reading(Stretch& stretch, std::uint64_t begin) {
  stretch.begin = std::min<std::uint64_t>(size_, begin);
  stretch.end = std::min<std::uint64_t>(size_, begin + stretch_);
  stretch.slots.assign(stretch.end - stretch.begin, Slot());
  std::ranges::for_each(stretch.rests, [](auto& calls) { calls.clear(); });
  while (!waiting_.empty() && waiting_.back().entry->first_order < stretch.end) {
    open_.push_back(waiting_.back());
    waiting_.pop_back();
  }
  next_open_ = 0;
}

void ThreadWalk::read_share(Stretch& stretch, std::size_t reader) {
  constexpr std::size_t at_once = 64;
  for (std::size_t begin = next_open_.fetch_add(at_once); begin < open_.size();
       begin = next_open_.fetch_add(at_once)) {
    const std::size_t end = std::min(open_.size(), begin + at_once);
    for (Cursor& cursor : std::span(open_).subspan(begin, end - begin)) {
      read_on(cursor, stretch, reader);
    }
  }
}

void ThreadWalk::read_on(Cursor& cursor, Stretch& stretch, std::size_t reader) {
  const auto block = cache_.block(*cursor.entry);
  if (!block) {
    cursor.next = cursor.entry->calls;
    return;
  }
  const auto take = [&](const WalkedCall& call) {
    const std::uint32_t order = index_of(call.order);
    const bool expected = order >= stretch.begin && order < size_;
    if (expected && call.before != 0) {
      return;
    }
    if (!expected || !stretch.store(call, order - stretch.begin, reader)) {
      cache_.note_damage(); // two calls have one number, or the numbers do not ascend
    }
  };
  const auto prefetch = [&](std::uint32_t order) {
    __builtin_prefetch(stretch.slots.data() + (order - stretch.begin), 1);
  };
  while (cursor.next < cursor.entry->calls &&
         read_some(cursor, *block, stretch.end, take, prefetch)) {
  }
}

bool ThreadWalk::comes_before(const WalkedCall& late, const WalkedCall& other) {
  return std::pair(late.start, index_of(late.order) - late.before) <=
         std::pair(other.start, index_of(other.order));
}

} // namespace ptlens::cache
