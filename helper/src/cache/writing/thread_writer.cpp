// Converts calls to rows.
#include "cache/writing/thread_writer.hpp"

#include "base/checksum.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace ptlens::cache {

namespace {

// Returns the block of the rows. Its bytes are in the encoder.
MadeBlock make_block(const Edge& edge, std::uint32_t thread, std::vector<Row>& rows,
                     std::span<const Extra> extras, const StartIndexBuilder& starts,
                     BlockEncoder& encoder) {
  MadeBlock made{.edge = edge, .entry = encoder.encode(rows, extras, starts), .sums = {}};
  made.sums = encoder.sums(rows, extras);
  made.entry.thread = thread;
  made.entry.checksum = static_cast<std::uint32_t>(checksum(encoder.bytes()));
  return made;
}

} // namespace

void ThreadWriter::submit() {
  if (encoding_) {
    std::vector<stacks::ClosedCall> next;
    next.reserve(calls_per_batch);
    std::swap(next, batch_);
    encoding_->submit([this, batch = std::move(next)] { put_all(batch); },
                      OrderedWorker::Begin::later);
  } else {
    put_all(batch_);
    batch_.clear();
  }
}

void ThreadWriter::take_all(Calls calls) {
  if (encoding_ == nullptr) {
    submit();
    put_all(calls);
    return;
  }
  batch_.insert(batch_.end(), calls.begin(), calls.end());
  if (batch_.size() >= calls_per_batch) {
    submit();
  }
}

void ThreadWriter::put_all(Calls calls) {
  while (!calls.empty()) {
    const std::size_t count = std::min(calls.size(), most_together);
    put_together(calls.first(count));
    calls = calls.subspan(count);
  }
}

[[gnu::always_inline]] inline void ThreadWriter::put(const stacks::ClosedCall& call,
                                                     std::uint32_t lane) {
  starts_.add(index_of(call.order), call.start);
  last_order_ = std::max(last_order_, index_of(call.order));
  std::uint32_t before = 0;
  if (call.order <= last_late_parent_ || call.late ||
      (call.parent != stacks::CallId::none && call.parent > call.order)) [[unlikely]] {
    before = note_late(call);
  }
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
  if (waiting >= block_calls_) [[unlikely]] {
    write(lane);
  }
}

// Takes at most `most_together` calls.
void ThreadWriter::put_together(Calls calls) {
  std::array<Recent*, most_together> slots;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    slots[i] = &recent_of(calls[i]);
    __builtin_prefetch(slots[i]);
  }
  std::array<std::uint32_t, most_together> lanes;
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
  for (std::size_t i = 0; i < calls.size(); ++i) {
    put(calls[i], lanes[i]);
  }
  while (edges_.size() > recent_.size() / 2 && recent_bits_ < most_recent_bits) {
    recent_.assign(std::size_t{1} << ++recent_bits_, {});
  }
  if (waiting_.bytes() > target_->memory_per_thread()) {
    make_room();
  }
}

std::uint32_t ThreadWriter::find_lane(const Edge& edge) {
  const auto [at, added] = lanes_.try_emplace(edge, static_cast<std::uint32_t>(edges_.size()));
  if (added) {
    edges_.push_back(edge);
    at.value() = waiting_.add_lane();
  }
  return at->second;
}

// Returns how much lower the order of the first call in this one is. Passes that call on to the
// parent, which needs it too.
std::uint32_t ThreadWriter::note_late(const stacks::ClosedCall& call) {
  stacks::CallId first = call.order;
  if (!first_inside_.empty()) {
    if (const auto at = first_inside_.find(call.order); at != first_inside_.end()) {
      first = std::min(first, at->second);
      first_inside_.erase(at);
    }
  }
  if (call.parent != stacks::CallId::none && call.parent > first) {
    const auto [at, added] = first_inside_.try_emplace(call.parent, first);
    last_late_parent_ = std::max(last_late_parent_, call.parent);
    at->second = std::min(at->second, first);
  }
  if (call.late) {
    target_->add_late(thread_, call.function);
  }
  return index_of(call.order) - index_of(first);
}

void ThreadWriter::write(std::uint32_t lane) {
  rows_.clear();
  extras_.clear();
  waiting_.take(lane, rows_, extras_);
  starts_.cover(last_order_);
  const auto made = make_block(edges_[lane], thread_, rows_, extras_, starts_, encoder_);
  target_->add_block(made, encoder_.bytes());
}

// Writes blocks of the fullest lanes.
void ThreadWriter::make_room() {
  std::vector<std::uint32_t> fullest(waiting_.lanes());
  std::iota(fullest.begin(), fullest.end(), 0U);
  std::ranges::sort(fullest, std::greater(),
                    [this](std::uint32_t lane) { return waiting_.count(lane); });
  for (std::size_t next = 0; next < fullest.size();) {
    const std::uint32_t lane = fullest[next++];
    if (waiting_.count(lane) == 0 || waiting_.bytes() <= target_->memory_per_thread() / 2) {
      return;
    }
    if (next != fullest.size()) {
      waiting_.prefetch_rows(fullest[next]);
    }
    write(lane);
  }
}

struct ThreadWriter::EncodedBlocks {
  std::vector<MadeBlock> blocks;
  std::vector<std::byte> bytes;
};

// Encodes all rows of the lanes from `begin` to `end`, without removing them.
ThreadWriter::EncodedBlocks ThreadWriter::make_blocks(std::uint32_t begin,
                                                      std::uint32_t end) const {
  EncodedBlocks made;
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
      made.blocks.push_back(make_block(edges_[lane], thread_, rows, extras, starts_, encoder));
      made.bytes.insert(made.bytes.end(), encoder.bytes().begin(), encoder.bytes().end());
    }
  }
  return made;
}

void ThreadWriter::add(const EncodedBlocks& made) {
  std::span<const std::byte> left(made.bytes);
  for (const MadeBlock& block : made.blocks) {
    target_->add_block(block, left.first(block.entry.bytes));
    left = left.subspan(block.entry.bytes);
  }
}

// The encoding thread, where there is one, takes every other range of lanes.
void ThreadWriter::flush() {
  constexpr std::uint32_t lanes_per_range = 1024;
  const auto lanes = static_cast<std::uint32_t>(waiting_.lanes());
  starts_.cover(last_order_);
  for (std::uint32_t begin = 0; begin < lanes; begin += 2 * lanes_per_range) {
    const std::uint32_t middle = std::min(lanes, begin + lanes_per_range);
    const std::uint32_t end = std::min(lanes, middle + lanes_per_range);
    EncodedBlocks others;
    if (encoding_) {
      encoding_->submit([&] { others = make_blocks(middle, end); });
    }
    add(make_blocks(begin, middle));
    if (encoding_) {
      encoding_->finish();
    } else {
      others = make_blocks(middle, end);
    }
    add(others);
  }
}

} // namespace ptlens::cache
