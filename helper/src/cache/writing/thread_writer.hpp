// The calls of one thread on their way into a cache. Private to the writer.
//
// Calls arrive in the order in which they close. What needs this order is done here: the index of
// starts, and which calls were opened after calls inside them. Then each call goes to the rows of
// its edge. Where other threads encode the blocks, each of them has the edges of one partition
// (radix partitioning: Shatdal, Kant, Naughton, VLDB 1994), and takes calls in batches.
#pragma once

#include "base/ordered_worker.hpp"
#include "cache/format/start_index.hpp"
#include "cache/writing/block_target.hpp"
#include "cache/writing/edge_rows.hpp"
#include "stacks/calls/closed_call.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptlens::cache {

class ThreadWriter final : public stacks::CallSink {
public:
  // `encoders`: the threads that encode blocks; none: the caller's. All must outlive the object.
  ThreadWriter(BlockTarget& target, std::span<OrderedWorker* const> encoders, std::uint32_t thread,
               std::uint32_t block_calls);

  void take(const stacks::ClosedCall& call) override { take_all({&call, 1}); }
  void take_all(std::span<const stacks::ClosedCall> calls) override;
  void submit(); // passes all batches on
  void flush();  // writes all waiting rows; must be called after the last batch was processed
  [[nodiscard]] std::uint32_t thread() const { return thread_; }
  [[nodiscard]] StartIndexBuilder take_starts() { return std::move(starts_); }

private:
  using Calls = std::span<const stacks::ClosedCall>;
  static constexpr std::size_t calls_per_batch = 512;

  struct Partition {
    EdgeRows rows; // used by the encoder
    OrderedWorker* encoder = nullptr;
    std::vector<stacks::ClosedCall> batch;
    std::vector<LateCall> late; // of the batch
  };

  void put_directly(Calls calls);
  [[nodiscard]] Partition& partition_of(const stacks::ClosedCall& call) {
    return partitions_[(EdgeRows::hash_of(call) & 0xffffU) * partitions_.size() >> 16U];
  }
  // Notes a call. Returns how much lower the order of the first call in it is.
  [[nodiscard]] std::uint32_t note(const stacks::ClosedCall& call);
  [[nodiscard]] std::uint32_t note_late(const stacks::ClosedCall& call);
  void add(Partition& partition, const stacks::ClosedCall& call);
  void submit(Partition& partition);

  BlockTarget* target_;
  std::uint32_t thread_;
  std::vector<Partition> partitions_; // one, or one for each encoder
  StartIndexBuilder starts_;
  std::vector<LateCall> late_;   // of the calls that are put directly
  std::uint32_t last_order_ = 0; // the highest
  std::unordered_map<stacks::CallId, stacks::CallId> first_inside_; // by late parent
  stacks::CallId last_late_parent_{};                               // the highest of these
};

} // namespace ptlens::cache
