// A stretch is long enough that each visit of a block reads several calls, and short enough to stay
// in the processor's cache.
#include "cache/reading/walk.hpp"

#include "base/cancellation.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace ptlens::cache {
namespace {

constexpr std::uint64_t shortest_stretch = 1 << 15;
constexpr std::uint64_t calls_per_visit = 8;

} // namespace

ThreadWalk::ThreadWalk(const CallCache& cache, std::span<const EdgeId> edges, std::uint32_t thread)
    : cache_(cache), size_(cache.calls_by_thread()[thread]) {
  for (const EdgeId edge : edges) {
    for (const BlockEntry& entry : cache.blocks(edge)) {
      if (entry.thread != thread) {
        continue;
      }
      Cursor cursor;
      cursor.entry = &entry;
      cursor.edge = edge;
      cursor.order = entry.first_order;
      cursor.start = entry.first_start;
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
  stretch_ = std::max<std::uint64_t>(shortest_stretch, calls_per_visit * waiting_.size());
}

WalkedCall ThreadWalk::step(Cursor& cursor, const Block& block) {
  const std::size_t at = cursor.next++;
  cursor.order += static_cast<std::uint32_t>(block.order_step[at]);
  cursor.start += block.start_step[at];
  WalkedCall call;
  call.order = stacks::CallId{cursor.order};
  call.edge = cursor.edge;
  call.start = cursor.start;
  call.latency = block.latency[at];
  call.children = block.children[at];
  call.uncertainty = block.uncertainty[at];
  call.end_unknown = (block.flags[at] & end_unknown_bit) != 0;
  if (const auto distance = static_cast<std::uint32_t>(block.distance[at]); distance != 0) {
    call.parent = stacks::CallId{cursor.order - distance};
  }
  if (cursor.entry->extras != 0 && (block.flags[at] & extra_bit) != 0 &&
      cursor.next_extra < cursor.entry->extras) {
    const std::size_t extra = cursor.next_extra++;
    call.outside = block.outside[extra];
    call.off_cpu = block.blocked[extra] + block.preempted[extra];
    call.before = static_cast<std::uint32_t>(block.before[extra]);
  }
  return call;
}

void ThreadWalk::find_late(const Cursor& from) {
  const auto block = cache_.block(*from.entry);
  bool any = false;
  for (std::size_t extra = 0; block && extra < from.entry->extras && !any; ++extra) {
    any = block->before[extra] != 0;
  }
  if (!any) {
    return;
  }
  Cursor cursor = from;
  while (cursor.next < from.entry->calls) {
    if (const WalkedCall call = step(cursor, *block); call.before != 0) {
      late_.push_back(call);
    }
  }
}

std::vector<WalkedCall> ThreadWalk::collect() {
  std::vector<WalkedCall> all = late_;
  for (std::uint64_t begin = 0; begin < size_ && read_stretch(begin); begin += stretch_) {
    std::ranges::copy_if(calls_, std::back_inserter(all),
                         [](const WalkedCall& call) { return call.edge != EdgeId::none; });
  }
  std::ranges::sort(all, {}, [](const WalkedCall& call) {
    const bool late = call.before != 0;
    const std::uint32_t order = index_of(call.order);
    return std::tuple(call.start, order - call.before, !late, late ? ~order : order);
  });
  return all;
}

bool ThreadWalk::read_stretch(std::uint64_t begin) {
  if (cancel_asked()) {
    return false;
  }
  const std::uint64_t end = std::min<std::uint64_t>(size_, begin + stretch_);
  WalkedCall none;
  none.edge = EdgeId::none;
  calls_.assign(end - begin, none);
  while (!waiting_.empty() && waiting_.back().entry->first_order < end) {
    open_.push_back(waiting_.back());
    waiting_.pop_back();
  }
  for (Cursor& cursor : open_) {
    read_on(cursor, begin, end);
  }
  std::erase_if(open_, [](const Cursor& cursor) { return cursor.next >= cursor.entry->calls; });
  return true;
}

void ThreadWalk::read_on(Cursor& cursor, std::uint64_t begin, std::uint64_t end) {
  const auto block = cache_.block(*cursor.entry);
  if (!block) {
    cursor.next = cursor.entry->calls;
    return;
  }
  while (cursor.next < cursor.entry->calls) {
    const std::uint64_t order = cursor.order + block->order_step[cursor.next];
    if (order >= end && order < size_) {
      return;
    }
    const WalkedCall call = step(cursor, *block);
    if (order < begin || order >= size_ || calls_[order - begin].edge != EdgeId::none) {
      cache_.note_damage(); // two calls have one number, or the numbers do not ascend
    } else if (call.before == 0) {
      calls_[order - begin] = call;
    }
  }
}

bool ThreadWalk::comes_before(const WalkedCall& late, const WalkedCall& other) {
  return std::pair(late.start, index_of(late.order) - late.before) <=
         std::pair(other.start, index_of(other.order));
}

} // namespace ptlens::cache
