// About when each call of a thread started, by its number of opening: a time for every 32nd call,
// so that blocks only contain how far their calls are from the line between two of these times. The
// times need not be exact, because blocks are encoded before all calls of their time are closed:
// each is the start of the first call that closed among its 32.
#pragma once

#include "base/stable_vector.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::cache {

struct StartGroup {
  static constexpr std::size_t times = 64;
  std::uint64_t base = 0;                      // ns
  std::array<std::uint32_t, times> after = {}; // ns after the base, of each time
};
static_assert(sizeof(StartGroup) == 264);

// The times of a thread: those of a file, or those so far of a builder that goes on.
class StartIndex {
public:
  static constexpr unsigned calls_bits = 5;
  static constexpr std::uint32_t calls_per_time = 1U << calls_bits;

  StartIndex() = default;
  explicit StartIndex(std::span<const StartGroup> groups)
      : groups_(groups), times_(groups.size() * StartGroup::times) {}
  // The groups must outlive the object. Another thread may add to them.
  StartIndex(const StableVector<StartGroup>& groups, std::uint64_t times)
      : growing_(&groups), times_(times) {}

  // Returns whether the times of the call are known, which do not change from then on.
  [[nodiscard]] bool covers(std::uint32_t order) const {
    return std::uint64_t{order >> calls_bits} + 1 < times_;
  }
  // Returns about when the call started, ns; anything for a call that the index does not cover.
  [[nodiscard]] std::uint64_t about(std::uint32_t order) const {
    const std::uint32_t number = order >> calls_bits;
    if (!covers(order)) [[unlikely]] {
      return 0;
    }
    const StartGroup& group = group_of(number);
    const std::uint64_t before = time(group, number);
    const bool is_last = (number + 1) % StartGroup::times == 0;
    const std::uint64_t next = time(is_last ? group_of(number + 1) : group, number + 1);
    const std::uint64_t part = (next - before) * (order % calls_per_time);
    return before + static_cast<std::uint64_t>(static_cast<std::int64_t>(part) >> calls_bits);
  }

private:
  [[nodiscard]] const StartGroup& group_of(std::uint32_t number) const {
    const std::size_t at = number / StartGroup::times;
    return growing_ != nullptr ? (*growing_)[at] : groups_[at];
  }
  [[nodiscard]] static std::uint64_t time(const StartGroup& group, std::uint32_t number) {
    return group.base + group.after[number % StartGroup::times];
  }

  std::span<const StartGroup> groups_;
  const StableVector<StartGroup>* growing_ = nullptr;
  std::uint64_t times_ = 0;
};

// Collects the index while calls close.
class StartIndexBuilder {
public:
  void add(std::uint32_t order, std::uint64_t start) {
    latest_ = start > latest_ ? start : latest_;
    if (order >> StartIndex::calls_bits >= times_) [[unlikely]] {
      extend(order >> StartIndex::calls_bits, start);
    }
  }
  // Completes the times that the call needs with the latest start so far.
  void cover(std::uint32_t order) { extend((order >> StartIndex::calls_bits) + 1, latest_); }

  // Returns the index so far. It is valid while the builder lives and is not moved, and another
  // thread that gets it may use it while the builder goes on.
  [[nodiscard]] StartIndex index() const { return {groups_, times_}; }
  [[nodiscard]] std::vector<StartGroup> groups() const;

private:
  void extend(std::uint32_t number, std::uint64_t time);

  StableVector<StartGroup> groups_;
  std::uint64_t times_ = 0;
  std::uint64_t latest_ = 0;
};

} // namespace ptlens::cache
