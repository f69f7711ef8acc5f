// The calls of one thread on their way into a cache. Private to the writer.
//
// Calls arrive in the order in which they close. Consecutive calls most often belong to different
// edges, and the waiting rows exceed the processor's cache. So calls are distributed to their edges
// in groups of some hundred: each step is done for the whole group, and the memory that the next
// step needs is prefetched (Chen, Ailamaki, Gibbons, Mowry: Improving Hash Join Performance through
// Prefetching, ICDE 2004).
#pragma once

#include "base/large_pages.hpp"
#include "base/ordered_worker.hpp"
#include "cache/format/block.hpp"
#include "cache/writing/block_target.hpp"
#include "cache/writing/waiting_rows.hpp"
#include "stacks/calls/closed_call.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <tsl/robin_map.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptlens::cache {

class ThreadWriter final : public stacks::CallSink {
public:
  // `encoding`: the thread that encodes blocks; null: the caller's. Both must outlive the object.
  ThreadWriter(BlockTarget& target, OrderedWorker* encoding, std::uint32_t thread,
               std::uint32_t block_calls)
      : target_(&target), encoding_(encoding), thread_(thread), block_calls_(block_calls),
        recent_(std::size_t{1} << least_recent_bits, Recent{}) {
    batch_.reserve(calls_per_batch);
  }

  void take(const stacks::ClosedCall& call) override {
    batch_.push_back(call);
    if (batch_.size() == calls_per_batch) {
      submit();
    }
  }
  void take_all(std::span<const stacks::ClosedCall> calls) override;
  void submit(); // passes the batch on
  void flush();  // writes all waiting rows; must be called after the last batch was processed
  [[nodiscard]] std::uint32_t thread() const { return thread_; }
  [[nodiscard]] StartIndexBuilder take_starts() { return std::move(starts_); }

private:
  using Calls = std::span<const stacks::ClosedCall>;
  static constexpr std::size_t calls_per_batch = 512;
  static constexpr std::size_t most_together = 128;

  struct Recent {
    Edge edge;
    std::uint32_t lane = no_lane;
  };
  static constexpr std::uint32_t no_lane = UINT32_MAX;
  static constexpr unsigned least_recent_bits = 8;
  static constexpr unsigned most_recent_bits = 17;

  // Returns the slot that remembers the lane of an edge. Multiplicative hashing: Knuth, TAOCP vol.
  // 3, 6.4.
  [[nodiscard]] Recent& recent_of(const stacks::ClosedCall& call) {
    const std::uint32_t hash =
        index_of(call.function) * 0x9e3779b1U ^ index_of(call.site) * 0x85ebca77U;
    return recent_[hash >> (32 - recent_bits_)];
  }
  void put_all(Calls calls);
  void put_together(Calls calls);
  [[nodiscard]] std::uint32_t find_lane(const Edge& edge);
  void put(const stacks::ClosedCall& call, std::uint32_t lane);
  [[nodiscard]] std::uint32_t note_late(const stacks::ClosedCall& call);
  void write(std::uint32_t lane);
  struct EncodedBlocks;
  [[nodiscard]] EncodedBlocks make_blocks(std::uint32_t begin, std::uint32_t end) const;
  void add(const EncodedBlocks& made);
  void make_room();

  BlockTarget* target_;
  OrderedWorker* encoding_;
  std::uint32_t thread_;
  std::uint32_t block_calls_;
  std::vector<stacks::ClosedCall>
      batch_; // used by take(); the encoding thread uses all other members
  unsigned recent_bits_ = least_recent_bits;
  std::vector<Recent, LargePages<Recent>> recent_; // half empty, until it is large
  tsl::robin_map<Edge, std::uint32_t, EdgeHash, std::equal_to<>,
                 LargePages<std::pair<Edge, std::uint32_t>>>
      lanes_;
  std::vector<Edge> edges_; // by lane
  WaitingRows waiting_;     // by lane
  std::vector<Row> rows_;   // of the block being written
  std::vector<Extra> extras_;
  BlockEncoder encoder_;
  StartIndexBuilder starts_;
  std::uint32_t last_order_ = 0;                                    // the highest
  std::unordered_map<stacks::CallId, stacks::CallId> first_inside_; // by late parent
  stacks::CallId last_late_parent_{};                               // the highest of these
};

} // namespace ptlens::cache
