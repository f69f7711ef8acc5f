// Counts of branches by the length of their time interval, for percentiles of the uncertainty.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace ptlens::flow {

class UncertaintyCounts {
public:
  void add(std::uint64_t interval_ns) {
    if (interval_ns < short_.size()) {
      ++short_[interval_ns];
    } else {
      ++long_[interval_ns];
    }
  }

  // Counts the interval of a gap. Gaps have longer ones than branches, and count only where a
  // recording has no branch: all its code is missing.
  void add_gap(std::uint64_t interval_ns) { ++gaps_[interval_ns]; }

  void add(const UncertaintyCounts& other) {
    for (std::size_t interval = 0; interval < short_.size(); ++interval) {
      short_[interval] += other.short_[interval];
    }
    for (const auto& [interval, count] : other.long_) {
      long_[interval] += count;
    }
    for (const auto& [interval, count] : other.gaps_) {
      gaps_[interval] += count;
    }
  }

  // Returns the smallest length, ns, that at least nineteen of twenty intervals do not exceed; 0
  // where there are no intervals.
  [[nodiscard]] std::uint64_t of_nineteen_in_twenty() const {
    std::uint64_t all = 0;
    for (const std::uint64_t count : short_) {
      all += count;
    }
    all += sum(long_);
    if (all == 0) {
      return find(gaps_, most_of(sum(gaps_)));
    }
    std::uint64_t left = most_of(all);
    for (std::size_t interval = 0; interval < short_.size(); ++interval) {
      if (short_[interval] >= left) {
        return interval;
      }
      left -= short_[interval];
    }
    return find(long_, left);
  }

private:
  using Counts = std::map<std::uint64_t, std::uint64_t>; // by length, ns

  static std::uint64_t most_of(std::uint64_t all) { return all - all / 20; }
  static std::uint64_t sum(const Counts& counts) {
    std::uint64_t all = 0;
    for (const auto& [interval, count] : counts) {
      all += count;
    }
    return all;
  }
  static std::uint64_t find(const Counts& counts, std::uint64_t left) {
    for (const auto& [interval, count] : counts) {
      if (count >= left) {
        return interval;
      }
      left -= count;
    }
    return 0;
  }

  std::array<std::uint64_t, 4096> short_{}; // by length, ns
  Counts long_;                             // longer ones
  Counts gaps_;
};

} // namespace ptlens::flow
