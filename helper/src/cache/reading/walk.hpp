// Visits the calls of a thread in order of start, parents before their children, without a table of
// them. The numbers of opening are visited in stretches, and each block is read as far as the
// stretch reaches. Two threads share the blocks of a stretch.
#pragma once

#include "cache/reading/call_cache.hpp"

#include <array>
#include <atomic>
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
  // `edges` ascend. Of the edges `skipped`, only blocks that have extra columns are read:
  // that is every call with time outside user code or off the CPU, with the calls that it was made
  // in. Leaves out the calls of damaged blocks.
  ThreadWalk(const CallCache& cache, std::span<const EdgeId> edges, std::span<const EdgeId> skipped,
             std::uint32_t thread);

  // Returns the upper bound of the numbers of opening.
  [[nodiscard]] std::uint32_t orders() const { return size_; }

  // Gives every call to `take`. Another thread reads the next stretch meanwhile, and this one helps
  // it when it has given the calls. Returns false where the calls do not start in the order of
  // their opening; some of them may have been given then.
  template <class Take>
  [[nodiscard]] bool run(const Take& take) {
    std::size_t late = 0; // the number of late calls that were given
    std::uint64_t last = 0;
    const bool in_order = each_stretch([&](const Stretch& stretch) {
      for (std::size_t index = 0; index < stretch.slots.size(); ++index) {
        if (stretch.slots[index].edge == EdgeId::none) {
          continue;
        }
        const WalkedCall call = stretch.call(index);
        if (call.start < last) {
          return false;
        }
        last = call.start;
        while (late < late_.size() && comes_before(late_[late], call)) {
          take(late_[late++]);
        }
        take(call);
      }
      return true;
    });
    while (in_order && late < late_.size()) {
      take(late_[late++]);
    }
    return in_order;
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
  static constexpr std::size_t together = 128; // calls
  // A call of the stretch. Half a cache line, because calls are written in the order of their
  // edges.
  struct Slot {
    std::uint64_t start = 0;
    std::uint32_t latency = 0;
    std::uint32_t children = 0;
    EdgeId edge = EdgeId::none;
    std::uint32_t distance = 0; // to the parent's order
    std::uint32_t uncertainty = 0;
    std::uint32_t rest = 0; // number in Stretch::rests, 0: the members above contain all
  };
  static_assert(sizeof(Slot) == 32);
  static constexpr std::size_t readers = 2;

  // The calls of a stretch, by order.
  struct Stretch {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::vector<Slot> slots;
    // The calls that do not fit a slot, by reader. The call at an index has the number
    // (index * readers + reader) + 1.
    std::array<std::vector<WalkedCall>, readers> rests;

    // Returns false where a call has the slot already. Readers may use it at the same time.
    [[nodiscard]] bool store(const WalkedCall& call, std::size_t index, std::size_t reader);
    [[nodiscard]] WalkedCall call(std::size_t index) const {
      const Slot& slot = slots[index];
      if (slot.rest != 0) {
        return rests[(slot.rest - 1) % readers][(slot.rest - 1) / readers];
      }
      const auto order = static_cast<std::uint32_t>(begin + index);
      return {.order = stacks::CallId{order},
              .parent =
                  slot.distance == 0 ? stacks::CallId::none : stacks::CallId{order - slot.distance},
              .edge = slot.edge,
              .start = slot.start,
              .latency = slot.latency,
              .children = slot.children,
              .uncertainty = slot.uncertainty};
    }
  };

  // Reads the stretches in order. Returns false once `use` does.
  [[nodiscard]] bool each_stretch(const std::function<bool(const Stretch&)>& use);
  [[nodiscard]] std::vector<WalkedCall> collect();
  void begin_reading(Stretch& stretch, std::uint64_t begin);
  // Reads blocks of the stretch until no other is left. Each reader has a number of its own.
  void read_share(Stretch& stretch, std::size_t reader);
  void read_on(Cursor& cursor, Stretch& stretch, std::size_t reader);
  void add_block(EdgeId edge, const BlockEntry& entry);
  void find_late(const Cursor& cursor);
  template <class Take, class Expect>
  bool read_some(Cursor& cursor, const Block& block, std::uint64_t end, const Take& take,
                 const Expect& expect);
  // Callers that were found late come before the first call in them, outermost first.
  static bool comes_before(const WalkedCall& late, const WalkedCall& other);

  const CallCache& cache_;
  std::uint32_t size_ = 0;
  std::uint64_t stretch_ = 0;   // numbers of opening
  std::vector<Cursor> waiting_; // blocks that were not reached yet, in descending order
  std::vector<Cursor> open_;
  std::atomic<std::size_t> next_open_ = 0; // the first one that no reader has taken
  std::vector<WalkedCall> late_;           // in order of start
};

} // namespace ptlens::cache
