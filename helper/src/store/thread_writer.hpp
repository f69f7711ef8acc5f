// The calls of one thread on their way into a store. Private to it.
//
// Calls come in the order in which they close, each of another edge than the one before, and what
// waits for its block is more than a cache holds: so they are put to their edges some hundred at a
// time, each step for all of them before the next, and the memory that a step will touch is asked
// for in the step before (software prefetching; Chen, Ailamaki, Gibbons, Mowry: Improving Hash Join
// Performance through Prefetching, ICDE 2004).
#pragma once

#include "stacks/closed_call.hpp"
#include "store/block.hpp"
#include "store/waiting_rows.hpp"
#include "store/writer.hpp"

#include <array>
#include <cstdint>
#include <tsl/robin_map.h>
#include <unordered_map>
#include <vector>

namespace ptlens::store {

class ThreadWriter final : public stacks::CallSink {
public:
  ThreadWriter(Writer& writer, std::uint32_t thread) : writer_(&writer), thread_(thread) {}

  void take(const stacks::ClosedCall& call) override;
  void flush(); // all that waits
  [[nodiscard]] std::uint32_t thread() const { return thread_; }

private:
  static constexpr std::size_t most_together = 128;

  struct Recent {
    Edge edge; // of the last one with its hash
    std::uint32_t lane = no_lane;
  };
  static constexpr std::uint32_t no_lane = UINT32_MAX;
  static constexpr std::size_t recent_lanes = std::size_t{1} << 15U;

  void put_together();
  [[nodiscard]] std::uint32_t find_lane(const Edge& edge);
  void put(const stacks::ClosedCall& call, std::uint32_t lane);
  [[nodiscard]] std::uint32_t note_late(const stacks::ClosedCall& call);
  void write(std::uint32_t lane);
  void make_room();

  Writer* writer_;
  std::uint32_t thread_;
  std::array<stacks::ClosedCall, most_together> together_;
  std::size_t count_ = 0;                           // of together_
  std::array<std::uint32_t, most_together> places_; // in recent_, of together_
  std::vector<Recent> recent_{recent_lanes};        // by hash
  tsl::robin_map<Edge, std::uint32_t, EdgeHash> lanes_;
  std::vector<Edge> edges_; // by lane
  WaitingRows waiting_;     // by lane
  std::vector<Row> rows_;   // of the block being written
  std::vector<Extra> extras_;
  BlockEncoder encoder_;
  std::unordered_map<std::uint32_t, std::uint32_t> first_inside_; // by order of a late parent
};

} // namespace ptlens::store
