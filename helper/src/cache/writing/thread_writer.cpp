// Divides calls among partitions.
#include "cache/writing/thread_writer.hpp"

#include <algorithm>

namespace ptlens::cache {

ThreadWriter::ThreadWriter(BlockTarget& target, std::span<OrderedWorker* const> encoders,
                           std::uint32_t thread, std::uint32_t block_calls)
    : target_(&target), thread_(thread) {
  const std::size_t count = std::max<std::size_t>(1, encoders.size());
  partitions_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    partitions_.push_back({.rows = EdgeRows(target, thread, block_calls, count),
                           .encoder = encoders.empty() ? nullptr : encoders[i],
                           .batch = {},
                           .late = {}});
  }
}

[[gnu::always_inline]] inline std::uint32_t ThreadWriter::note(const stacks::ClosedCall& call) {
  starts_.add(index_of(call.order), call.start);
  last_order_ = std::max(last_order_, index_of(call.order));
  if (call.order <= last_late_parent_ || call.late ||
      (call.parent != stacks::CallId::none && call.parent > call.order)) [[unlikely]] {
    return note_late(call);
  }
  return 0;
}

// Passes the first call inside on to the parent, which needs it too.
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

void ThreadWriter::take_all(Calls calls) {
  if (partitions_.front().encoder == nullptr && calls.size() > 1) {
    put_directly(calls);
    return;
  }
  for (const stacks::ClosedCall& call : calls) {
    add(partitions_.size() == 1 ? partitions_.front() : partition_of(call), call);
  }
}

// Takes calls without copying them.
void ThreadWriter::put_directly(Calls calls) {
  submit();
  late_.clear();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (const std::uint32_t before = note(calls[i]); before != 0) [[unlikely]] {
      late_.push_back({.index = i, .before = before});
    }
  }
  partitions_.front().rows.put_all(calls, late_, starts_.index());
}

[[gnu::always_inline]] inline void ThreadWriter::add(Partition& partition,
                                                     const stacks::ClosedCall& call) {
  if (const std::uint32_t before = note(call); before != 0) [[unlikely]] {
    partition.late.push_back({.index = partition.batch.size(), .before = before});
  }
  partition.batch.push_back(call);
  if (partition.batch.size() >= calls_per_batch) [[unlikely]] {
    submit(partition);
  }
}

void ThreadWriter::submit() {
  for (Partition& partition : partitions_) {
    submit(partition);
  }
}

void ThreadWriter::submit(Partition& partition) {
  if (partition.batch.empty()) {
    return;
  }
  if (partition.encoder == nullptr) {
    partition.rows.put_all(partition.batch, partition.late, starts_.index());
    partition.batch.clear();
    partition.late.clear();
    return;
  }
  std::vector<stacks::ClosedCall> batch;
  batch.reserve(calls_per_batch);
  std::swap(batch, partition.batch);
  partition.encoder->submit(
      [&partition, batch = std::move(batch), late = std::exchange(partition.late, {}),
       starts = starts_.index()] { partition.rows.put_all(batch, late, starts); },
      OrderedWorker::Begin::later);
}

void ThreadWriter::flush() {
  starts_.cover(last_order_);
  for (const Partition& partition : partitions_) {
    partition.rows.write_all(starts_.index(), partition.encoder != nullptr);
  }
}

} // namespace ptlens::cache
