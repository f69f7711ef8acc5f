// About when each call of a thread started, by its number of opening: a time for every 32nd call,
// so that blocks only contain how far their calls are from the line between two of these times. The
// times need not be exact, because blocks are encoded before all calls of their time are closed:
// each is the start of the first call that closed among its 32.
#pragma once

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

class StartIndex {
public:
  static constexpr unsigned calls_bits = 5;
  static constexpr std::uint32_t calls_per_time = 1U << calls_bits;

  StartIndex() = default;
  explicit StartIndex(std::span<const StartGroup> groups) : groups_(groups) {}

  // Returns about when the call started, ns; anything for a call that the index does not cover.
  [[nodiscard]] std::uint64_t about(std::uint32_t order) const {
    const std::uint32_t number = order >> calls_bits;
    const std::uint64_t before = time(number);
    const std::uint64_t part = (time(number + 1) - before) * (order % calls_per_time);
    return before + static_cast<std::uint64_t>(static_cast<std::int64_t>(part) >> calls_bits);
  }

private:
  [[nodiscard]] std::uint64_t time(std::uint32_t number) const {
    const std::size_t group = number / StartGroup::times;
    return group < groups_.size()
               ? groups_[group].base + groups_[group].after[number % StartGroup::times]
               : 0;
  }

  std::span<const StartGroup> groups_;
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
  // Completes the times that the call needs with the latest start so far. Whatever covers() a call
  // does not change from then on.
  void cover(std::uint32_t order) { extend((order >> StartIndex::calls_bits) + 1, latest_); }

  [[nodiscard]] bool covers(std::uint32_t order) const {
    return std::uint64_t{order >> StartIndex::calls_bits} + 1 < times_;
  }

  // What another object needs to have the same times.
  struct More {
    std::size_t first = 0; // index of the first group
    std::uint64_t times = 0;
    std::vector<StartGroup> groups;
  };
  // Returns the groups from that one on.
  [[nodiscard]] More since(std::size_t first) const {
    return {.first = first,
            .times = times_,
            .groups = {groups_.begin() + static_cast<std::ptrdiff_t>(first), groups_.end()}};
  }
  // Returns the number of groups that will not change.
  [[nodiscard]] std::size_t complete_groups() const { return times_ / StartGroup::times; }
  // Takes over the times of another object.
  void follow(const More& more) {
    groups_.resize(more.first);
    groups_.insert(groups_.end(), more.groups.begin(), more.groups.end());
    times_ = more.times;
  }

  // Returns the index so far, which is valid until it is extended.
  [[nodiscard]] StartIndex index() const { return StartIndex(groups_); }
  [[nodiscard]] const std::vector<StartGroup>& groups() const { return groups_; }

private:
  void extend(std::uint32_t number, std::uint64_t time);

  std::vector<StartGroup> groups_;
  std::uint64_t times_ = 0;
  std::uint64_t latest_ = 0;
};

} // namespace ptlens::cache
