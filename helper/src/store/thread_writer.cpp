// Calls to rows.
#include "store/thread_writer.hpp"

#include <algorithm>

namespace ptlens::store {
namespace {

constexpr std::size_t first_rows = 8;

} // namespace

void ThreadWriter::take(const stacks::ClosedCall& call) {
  const std::uint32_t before = note_late(call);
  Waiting& waiting = this->waiting({call.function, call.caller, call.site});
  if (waiting.rows.size() == waiting.rows.capacity()) {
    grow(waiting);
  }
  auto flags = static_cast<std::uint8_t>(call.state);
  flags |= call.tail_call ? tail_call_bit : std::uint8_t{0};
  flags |= call.inner ? inner_bit : std::uint8_t{0};
  flags |= call.late ? late_bit : std::uint8_t{0};
  Row& row = waiting.rows.emplace_back(Row{.start = call.start,
                                           .latency = call.latency,
                                           .children = call.children,
                                           .order = call.order,
                                           .parent = call.parent,
                                           .resolution = call.resolution,
                                           .extra = 0,
                                           .flags = flags});
  if ((call.outside | call.blocked | call.preempted | call.switches | before) != 0) {
    add_extra(waiting, row, call, before);
  }
  if (waiting.rows.size() >= writer_->options_.block_calls) {
    write(waiting);
  }
}

void ThreadWriter::add_extra(Waiting& waiting, Row& row, const stacks::ClosedCall& call,
                             std::uint32_t before) {
  row.flags |= extra_bit;
  row.extra = static_cast<std::uint32_t>(waiting.extras.size());
  waiting.extras.push_back({.outside = call.outside,
                            .blocked = call.blocked,
                            .preempted = call.preempted,
                            .switches = call.switches,
                            .before = before});
}

// By how much the first call inside this one has a lower order; tells the caller of its first one.
std::uint32_t ThreadWriter::note_late(const stacks::ClosedCall& call) {
  std::uint32_t first = call.order;
  if (!first_inside_.empty()) {
    if (const auto at = first_inside_.find(call.order); at != first_inside_.end()) {
      first = std::min(first, at->second);
      first_inside_.erase(at);
    }
  }
  if (call.parent != stacks::no_call && call.parent > first) {
    const auto [at, added] = first_inside_.try_emplace(call.parent, first);
    at->second = std::min(at->second, first);
  }
  if (call.late) {
    const std::lock_guard lock(writer_->mutex_);
    writer_->late_.push_back({.thread = thread_, .function = call.function});
  }
  return call.order - first;
}

ThreadWriter::Waiting& ThreadWriter::waiting(const Edge& edge) {
  const auto [at, added] = numbers_.try_emplace(edge, static_cast<std::uint32_t>(waiting_.size()));
  if (added) {
    waiting_.push_back({.edge = edge, .rows = {}, .extras = {}});
  }
  return waiting_[at->second];
}

void ThreadWriter::grow(Waiting& waiting) {
  const std::size_t most = writer_->memory_of_a_thread();
  if (bytes_ > most) {
    make_room(most / 2);
  }
  const std::size_t rows = std::clamp<std::size_t>(
      waiting.rows.capacity() * 2, std::min<std::size_t>(first_rows, writer_->options_.block_calls),
      writer_->options_.block_calls);
  bytes_ -= waiting.rows.capacity() * sizeof(Row);
  waiting.rows.reserve(rows);
  bytes_ += waiting.rows.capacity() * sizeof(Row);
}

void ThreadWriter::write(Waiting& waiting) {
  writer_->add_block(waiting.edge, thread_, waiting.rows, waiting.extras);
  waiting.rows.clear();
  waiting.extras.clear();
}

void ThreadWriter::make_room(std::size_t most) {
  std::vector<std::uint32_t> fullest(waiting_.size());
  for (std::uint32_t i = 0; i < fullest.size(); ++i) {
    fullest[i] = i;
  }
  std::ranges::sort(fullest, [this](std::uint32_t one, std::uint32_t other) {
    return waiting_[one].rows.capacity() > waiting_[other].rows.capacity();
  });
  for (const std::uint32_t each : fullest) {
    if (bytes_ <= most) {
      return;
    }
    Waiting& waiting = waiting_[each];
    if (!waiting.rows.empty()) {
      write(waiting);
    }
    bytes_ -= waiting.rows.capacity() * sizeof(Row);
    waiting.rows = {};
    waiting.extras = {};
  }
}

void ThreadWriter::flush() {
  for (Waiting& waiting : waiting_) {
    if (!waiting.rows.empty()) {
      write(waiting);
    }
    waiting.rows = {};
    waiting.extras = {};
  }
  bytes_ = 0;
}

} // namespace ptlens::store
