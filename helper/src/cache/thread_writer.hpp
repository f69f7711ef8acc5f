// The calls of one thread on their way into a store. Private to it.
//
// Calls come in the order in which they close, each of another edge than the one before, and what
// waits for its block is more than a cache holds: so they are put to their edges some hundred at a
// time, each step for all of them before the next, and the memory that a step will touch is asked
// for in the step before (software prefetching; Chen, Ailamaki, Gibbons, Mowry: Improving Hash Join
// Performance through Prefetching, ICDE 2004).
#pragma once

#include "base/large_pages.hpp"
#include "cache/block.hpp"
#include "cache/waiting_rows.hpp"
#include "cache/writer.hpp"
#include "stacks/calls/closed_call.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <tsl/robin_map.h>
#include <unordered_map>
#include <vector>

namespace ptlens::cache {

class ThreadWriter final : public stacks::CallSink {
public:
  ThreadWriter(Writer& writer, std::uint32_t thread)
      : writer_(&writer), thread_(thread), block_calls_(writer.options_.block_calls),
        recent_(std::size_t{1} << least_recent_bits, Recent{}) {
    batch_.reserve(calls_a_batch);
  }

  void take(const stacks::ClosedCall& call) override {
    batch_.push_back(call);
    if (batch_.size() == calls_a_batch) {
      hand_on();
    }
  }
  void hand_on(); // the batch
  void flush();   // all that waits; every batch was handed on and is put
  [[nodiscard]] std::uint32_t thread() const { return thread_; }

private:
  using Calls = std::span<const stacks::ClosedCall>;
  static constexpr std::size_t calls_a_batch = 512;
  static constexpr std::size_t most_together = 128;

  struct Recent {
    Edge edge;
    std::uint32_t lane = no_lane;
  };
  static constexpr std::uint32_t no_lane = UINT32_MAX;
  static constexpr unsigned least_recent_bits = 8;
  static constexpr unsigned most_recent_bits = 17;

  // Where the lane of an edge is remembered. Multiplicative hashing: Knuth, TAOCP vol. 3, 6.4.
  [[nodiscard]] Recent& recent_of(const stacks::ClosedCall& call) {
    const std::uint32_t hash = call.function * 0x9e3779b1U ^ call.site * 0x85ebca77U;
    return recent_[hash >> (32 - recent_bits_)];
  }
  void put_all(Calls calls);
  void put_together(Calls calls);
  [[nodiscard]] std::uint32_t find_lane(const Edge& edge);
  void put(const stacks::ClosedCall& call, std::uint32_t lane);
  [[nodiscard]] std::uint32_t note_late(const stacks::ClosedCall& call);
  void write(std::uint32_t lane);
  struct MadeBlocks; // one after the other
  [[nodiscard]] MadeBlocks make_blocks(std::uint32_t begin, std::uint32_t end) const;
  void add(const MadeBlocks& made);
  void make_room();

  Writer* writer_;
  std::uint32_t thread_;
  std::uint32_t block_calls_;
  std::vector<stacks::ClosedCall> batch_; // the taker's; all else is of the one who stores
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
  std::unordered_map<std::uint32_t, std::uint32_t> first_inside_; // by order of a late parent
  std::uint32_t last_late_parent_ = 0;                            // none of those is higher
};

} // namespace ptlens::cache
