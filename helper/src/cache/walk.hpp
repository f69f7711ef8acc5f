// Calls of a store in the order in which they began, parents before their children, without a table
// of them: each thread is gone through in stretches of its numbers of opening, and every block is
// read on as far as the stretch reaches.
#pragma once

#include "cache/call_cache.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace ptlens::cache {

struct WalkedCall {
  std::uint32_t order = 0;                // number of opening
  std::uint32_t parent = stacks::no_call; // an order
  std::uint32_t edge = 0;                 // of the store
  std::uint32_t before = 0;               // by how much the first call inside has a lower order
  std::uint64_t start = 0;
  std::uint64_t latency = 0;
  std::uint64_t children = 0;
  std::uint64_t outside = 0;
  std::uint64_t off_cpu = 0;
};

class ThreadWalk {
public:
  // `edges`: indices, ascending. Calls of damaged blocks are left out.
  ThreadWalk(const CallCache& store, std::span<const std::uint32_t> edges, std::uint32_t thread);

  // Numbers of opening are below this.
  [[nodiscard]] std::uint32_t orders() const { return size_; }

  // Hands every call to `take`. False where the calls do not begin in the order of their opening:
  // some may have been handed over.
  template <class Take>
  [[nodiscard]] bool run(const Take& take) {
    std::size_t late = 0; // of them, how many were handed over
    std::uint64_t last = 0;
    for (std::uint64_t begin = 0; begin < size_; begin += stretch_) {
      if (!read_stretch(begin)) {
        break;
      }
      for (const WalkedCall& call : calls_) {
        if (call.edge == no_edge) {
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

private:
  static constexpr std::uint32_t no_edge = UINT32_MAX;

  struct Cursor { // in a block that reaches into this stretch or later ones
    const BlockEntry* entry = nullptr;
    std::uint32_t edge = 0;
    std::uint32_t next = 0;       // call of the block
    std::uint32_t next_extra = 0; // of those with more
    std::uint32_t order = 0;      // of the call before
    std::uint64_t start = 0;
  };

  // False once the work is cancelled.
  bool read_stretch(std::uint64_t begin);
  void read_on(Cursor& cursor, std::uint64_t begin, std::uint64_t end);
  void find_late(const Cursor& cursor);
  // Reads the next call of the block.
  static WalkedCall step(Cursor& cursor, const Block& block);
  // Callers that were found late come before the first of what they hold, outermost first.
  static bool comes_before(const WalkedCall& late, const WalkedCall& other);

  const CallCache& store_;
  std::uint32_t size_ = 0;
  std::uint64_t stretch_ = 0;
  std::vector<Cursor> waiting_; // blocks not reached yet, the first last
  std::vector<Cursor> open_;
  std::vector<WalkedCall> late_;  // in their order
  std::vector<WalkedCall> calls_; // of the stretch, by order
};

} // namespace ptlens::cache
