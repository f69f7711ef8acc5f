// The calls of one thread and some of its edges, which wait for their blocks. Private to the
// writer.
//
// Consecutive calls most often belong to different edges, and the waiting rows exceed the
// processor's cache. So calls are distributed to their edges in groups of some hundred: each step
// is done for the whole group, and the memory that the next step needs is prefetched (Chen,
// Ailamaki, Gibbons, Mowry: Improving Hash Join Performance through Prefetching, ICDE 2004).
#pragma once

#include "base/large_pages.hpp"
#include "cache/format/block.hpp"
#include "cache/format/start_index.hpp"
#include "cache/writing/block_target.hpp"
#include "cache/writing/waiting_rows.hpp"
#include "stacks/calls/closed_call.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <tsl/robin_map.h>
#include <utility>
#include <vector>

namespace ptlens::cache {

// A call that was opened after calls inside it.
struct LateCall {
  std::size_t index = 0;    // in a list of calls
  std::uint32_t before = 0; // how much lower the order of the first call in it is
};

class EdgeRows {
public:
  // `partitions`: the number of objects among which the thread's calls are divided. The target must
  // outlive the object.
  EdgeRows(BlockTarget& target, std::uint32_t thread, std::uint32_t block_calls,
           std::size_t partitions)
      : target_(&target), thread_(thread), block_calls_(block_calls), partitions_(partitions),
        recent_(std::size_t{1} << least_recent_bits, Recent{}) {}

  // Returns a number that depends on the edge of the call.
  [[nodiscard]] static std::uint32_t hash_of(const stacks::ClosedCall& call) {
    // Multiplicative hashing: Knuth, TAOCP vol. 3, 6.4.
    return index_of(call.function) * 0x9e3779b1U ^ index_of(call.site) * 0x85ebca77U;
  }

  // Takes calls in the order in which they closed. `late`: by index. `starts`: those of the thread.
  void put_all(std::span<const stacks::ClosedCall> calls, std::span<const LateCall> late,
               const StartIndex& starts);
  // Writes all waiting rows, which stay in memory. With `parallel`, all cores take part.
  void write_all(const StartIndex& starts, bool parallel) const;

private:
  using Calls = std::span<const stacks::ClosedCall>;
  static constexpr std::size_t most_together = 128;

  struct Recent {
    Edge edge;
    std::uint32_t lane = no_lane;
  };
  static constexpr std::uint32_t no_lane = UINT32_MAX;
  static constexpr unsigned least_recent_bits = 8;
  static constexpr unsigned most_recent_bits = 17;

  // Returns the slot that remembers the lane of an edge.
  [[nodiscard]] Recent& recent_of(const stacks::ClosedCall& call) {
    return recent_[hash_of(call) >> (32 - recent_bits_)];
  }
  void find_lanes(Calls calls, std::span<std::uint32_t> lanes);
  [[nodiscard]] std::uint32_t find_lane(const Edge& edge);
  void put(const stacks::ClosedCall& call, std::uint32_t lane, std::uint32_t before,
           const StartIndex& starts);
  void write(std::uint32_t lane, const StartIndex& starts);
  void write_lanes(std::uint32_t begin, std::uint32_t end, const StartIndex& starts) const;
  void make_room(const StartIndex& starts);

  BlockTarget* target_;
  std::uint32_t thread_;
  std::uint32_t block_calls_;
  std::size_t partitions_;
  unsigned recent_bits_ = least_recent_bits;
  std::vector<Recent, LargePages<Recent>> recent_; // half empty, until it is large
  tsl::robin_map<Edge, std::uint32_t, EdgeHash, std::equal_to<>,
                 LargePages<std::pair<Edge, std::uint32_t>>>
      numbers_;
  std::vector<ThreadEdge> edges_; // by lane
  WaitingRows waiting_;           // by lane
  std::vector<Row> rows_;         // of the block being written
  std::vector<Extra> extras_;
  BlockEncoder encoder_;
};

} // namespace ptlens::cache
