// Visits the calls of a thread in order of start, parents before their children, without a table of
// them. The numbers of opening are visited in stretches, and each block is read as far as the
// stretch reaches.
#pragma once

#include "cache/reading/call_cache.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace ptlens::cache {

struct WalkedCall {
  stacks::CallId order{};
  stacks::CallId parent = stacks::CallId::none;
  EdgeId edge{};
  std::uint32_t before = 0; // how much lower the order of the first call in it is
  std::uint64_t start = 0;
  std::uint64_t latency = 0;
  std::uint64_t children = 0;
  std::uint64_t outside = 0;
  std::uint64_t off_cpu = 0;
  std::uint64_t uncertainty = 0;
  bool end_unknown = false;
};

class ThreadWalk {
public:
  // `edges` ascend. Leaves out the calls of damaged blocks.
  ThreadWalk(const CallCache& cache, std::span<const EdgeId> edges, std::uint32_t thread);

  // Returns the upper bound of the numbers of opening.
  [[nodiscard]] std::uint32_t orders() const { return size_; }

  // Gives every call to `take`. Returns false where the calls do not start in the order of their
  // opening; some of them may have been given then.
  template <class Take>
  [[nodiscard]] bool run(const Take& take) {
    std::size_t late = 0; // the number of late calls that were given
    std::uint64_t last = 0;
    for (std::uint64_t begin = 0; begin < size_; begin += stretch_) {
      if (!read_stretch(begin)) {
        break;
      }
      for (const WalkedCall& call : calls_) {
        if (call.edge == EdgeId::none) {
          continue;
        }
        if (call.start < last) {
          return false;
        }
        last = call.start;
        while (late < late_.size() && comes_before(late_[late], call)) {
          take(late_[late++]);
        }
        take(call);
      }
    }
    while (late < late_.size()) {
      take(late_[late++]);
    }
    return true;
  }

  // Does the same for calls in any order: collects all of them and sorts them. Several stacks on
  // one thread can make it necessary.
  template <class Take>
  void run_sorted(const Take& take) {
    for (const WalkedCall& call : collect()) {
      take(call);
    }
  }

private:
  struct Cursor { // in a block with calls of this stretch or a later one
    const BlockEntry* entry = nullptr;
    EdgeId edge{};
    std::uint32_t next = 0;       // call of the block
    std::uint32_t next_extra = 0; // call of the block with extra columns
    Block::Position position;
  };
  static constexpr std::size_t together = 16; // calls

  [[nodiscard]] std::vector<WalkedCall> collect();
  // Returns false once the work is cancelled.
  bool read_stretch(std::uint64_t begin);
  void read_on(Cursor& cursor, std::uint64_t begin, std::uint64_t end);
  void find_late(const Cursor& cursor);
  std::span<const WalkedCall> read_some(Cursor& cursor, const Block& block, std::uint64_t end);
  // Callers that were found late come before the first call in them, outermost first.
  static bool comes_before(const WalkedCall& late, const WalkedCall& other);

  const CallCache& cache_;
  std::uint32_t size_ = 0;
  std::uint64_t stretch_ = 0;
  std::vector<Cursor> waiting_; // blocks that were not reached yet, in descending order
  std::vector<Cursor> open_;
  std::vector<WalkedCall> late_;  // in order of start
  std::vector<WalkedCall> calls_; // of the stretch, by order
  std::array<WalkedCall, together> some_;
};

} // namespace ptlens::cache
