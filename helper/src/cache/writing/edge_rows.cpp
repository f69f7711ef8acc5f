// Converts calls to rows, and rows to blocks.
#include "cache/writing/edge_rows.hpp"

#include "base/checksum.hpp"
#include "base/parallel.hpp"

#include <algorithm>
#include <array>

namespace ptlens::cache {

namespace {

// Returns the block of the rows. Its bytes are in the encoder.
MadeBlock make_block(ThreadEdge edge, std::uint32_t thread, std::vector<Row>& rows,
                     std::span<const Extra> extras, const StartIndex& starts,
                     BlockEncoder& encoder) {
  MadeBlock made{.edge = edge, .entry = encoder.encode(rows, extras, starts), .sums = {}};
  made.sums = encoder.sums(rows, extras);
  made.entry.thread = thread;
  made.entry.checksum = static_cast<std::uint32_t>(checksum(encoder.bytes()));
  return made;
}

} // namespace

void EdgeRows::put_all(Calls calls, std::span<const LateCall> late, const StartIndex& starts) {
  std::array<std::uint32_t, most_together> lanes;
  for (std::size_t begin = 0; begin < calls.size(); begin += most_together) {
    const Calls group = calls.subspan(begin, std::min(calls.size() - begin, most_together));
    find_lanes(group, lanes);
    for (std::size_t i = 0; i < group.size(); ++i) {
      std::uint32_t before = 0;
      if (!late.empty() && late.front().index == begin + i) [[unlikely]] {
        before = late.front().before;
        late = late.subspan(1);
      }
      put(group[i], lanes[i], before, starts);
    }
    while (edges_.size() > recent_.size() / 2 && recent_bits_ < most_recent_bits) {
      recent_.assign(std::size_t{1} << ++recent_bits_, {});
    }
    if (waiting_.bytes() > target_->memory_per_thread() / partitions_) {
      make_room(starts);
    }
  }
}

// Finds the lane of each call of a group, and prefetches where its row will be.
void EdgeRows::find_lanes(Calls calls, std::span<std::uint32_t> lanes) {
  std::array<Recent*, most_together> slots;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    slots[i] = &recent_of(calls[i]);
    __builtin_prefetch(slots[i]);
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Edge edge{calls[i].function, calls[i].caller, calls[i].site};
    Recent& recent = *slots[i];
    if (recent.lane == no_lane || recent.edge != edge) {
      recent = {.edge = edge, .lane = find_lane(edge)};
    }
    lanes[i] = recent.lane;
    waiting_.prefetch_lane(lanes[i]);
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    waiting_.prefetch_row(lanes[i]);
  }
}

std::uint32_t EdgeRows::find_lane(const Edge& edge) {
  const auto [at, added] = numbers_.try_emplace(edge, static_cast<std::uint32_t>(edges_.size()));
  if (added) {
    edges_.push_back(target_->add_edge(edge));
    at.value() = waiting_.add_lane();
  }
  return at->second;
}

[[gnu::always_inline]] inline void EdgeRows::put(const stacks::ClosedCall& call, std::uint32_t lane,
                                                 std::uint32_t before, const StartIndex& starts) {
  auto flags = static_cast<unsigned>(call.state);
  flags |= call.tail_call ? tail_call_bit : 0U;
  flags |= call.inner ? inner_bit : 0U;
  flags |= call.late ? late_bit : 0U;
  flags |= call.end_unknown ? end_unknown_bit : 0U;
  std::uint32_t waiting = 0;
  if ((call.outside | call.blocked | call.preempted | call.switches | before | call.removed) != 0)
      [[unlikely]] {
    const Extra extra{.outside = call.outside,
                      .blocked = call.blocked,
                      .preempted = call.preempted,
                      .switches = call.switches,
                      .before = before,
                      .removed = call.removed};
    waiting = waiting_.add(lane, call, flags | extra_bit, &extra);
  } else {
    waiting = waiting_.add(lane, call, flags, nullptr);
  }
  // Blocks whose starts are all in the index are shorter, and the index will soon cover the call.
  if (waiting >= block_calls_ &&
      (starts.covers(index_of(call.order)) || waiting >= 2 * block_calls_)) [[unlikely]] {
    write(lane, starts);
  }
}

void EdgeRows::write(std::uint32_t lane, const StartIndex& starts) {
  rows_.clear();
  extras_.clear();
  waiting_.take(lane, rows_, extras_);
  const auto made = make_block(edges_[lane], thread_, rows_, extras_, starts, encoder_);
  target_->add_blocks({&made, 1}, encoder_.bytes());
}

// Writes blocks of the fullest lanes: an eighth of all rows, so that the threads that decode wait
// for a moment only.
void EdgeRows::make_room(const StartIndex& starts) {
  constexpr std::size_t parts = 8;
  const auto lanes = static_cast<std::uint32_t>(waiting_.lanes());
  std::vector<std::size_t> rows(std::size_t{2} * block_calls_ + 1); // by count of their lane
  std::size_t all = 0;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    rows[waiting_.count(lane)] += waiting_.count(lane);
    all += waiting_.count(lane);
  }
  std::size_t least = rows.size();
  for (std::size_t written = 0; written < all / parts + 1 && least > 1;) {
    written += rows[--least];
  }
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    if (waiting_.count(lane) >= least) {
      write(lane, starts);
    }
  }
}

// Writes the blocks of the lanes, in their order.
void EdgeRows::write_lanes(std::uint32_t begin, std::uint32_t end, const StartIndex& starts) const {
  std::vector<MadeBlock> blocks;
  std::vector<std::byte> bytes;
  BlockEncoder encoder;
  std::vector<Row> rows;
  std::vector<Extra> extras;
  for (std::uint32_t lane = begin; lane < end; ++lane) {
    if (lane + 1 < end) {
      waiting_.prefetch_rows(lane + 1);
    }
    if (waiting_.count(lane) != 0) {
      rows.clear();
      extras.clear();
      waiting_.read(lane, rows, extras);
      blocks.push_back(make_block(edges_[lane], thread_, rows, extras, starts, encoder));
      bytes.insert(bytes.end(), encoder.bytes().begin(), encoder.bytes().end());
    }
  }
  target_->add_blocks(blocks, bytes);
}

void EdgeRows::write_all(const StartIndex& starts, bool parallel) const {
  constexpr std::uint32_t lanes_per_range = 1024;
  const auto lanes = static_cast<std::uint32_t>(waiting_.lanes());
  const auto write_range = [&](std::size_t range) {
    const auto begin = static_cast<std::uint32_t>(range) * lanes_per_range;
    write_lanes(begin, std::min(lanes, begin + lanes_per_range), starts);
  };
  const std::size_t ranges = (std::size_t{lanes} + lanes_per_range - 1) / lanes_per_range;
  if (parallel) {
    do_tasks(ranges, write_range);
    return;
  }
  for (std::size_t range = 0; range < ranges; ++range) {
    write_range(range);
  }
}

} // namespace ptlens::cache
