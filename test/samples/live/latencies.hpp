// The calls of one function by the program's own clock, in constant memory: a histogram whose
// buckets are 1/256 of their value wide, as in Tene's HdrHistogram. Count, mean, shortest, longest
// and total are exact.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace truth {

class Latencies {
public:
  void add(std::uint64_t value) {
    ++calls_;
    total_ += value;
    shortest_ = std::min(shortest_, value);
    longest_ = std::max(longest_, value);
    ++buckets_[bucket_of(value)];
  }

  void add(const Latencies& other) {
    calls_ += other.calls_;
    total_ += other.total_;
    shortest_ = std::min(shortest_, other.shortest_);
    longest_ = std::max(longest_, other.longest_);
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      buckets_[bucket] += other.buckets_[bucket];
    }
  }

  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  [[nodiscard]] double mean() const {
    return calls_ == 0 ? 0 : static_cast<double>(total_) / static_cast<double>(calls_);
  }

  // Returns the middle of the bucket that contains the smallest value with at least that share of
  // the calls at or below it.
  [[nodiscard]] double quantile(double share) const {
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      seen += buckets_[bucket];
      if (seen > 0 && static_cast<double>(seen) >= share * static_cast<double>(calls_)) {
        return middle_of(bucket);
      }
    }
    return 0;
  }

  // Writes {"name", "calls", "mean", "min", "p50", "p99", "max", "total"}, times in ns.
  void write(std::FILE* file, const char* name, double ticks_per_ns) const {
    const auto ns = [&](auto value) { return static_cast<double>(value) / ticks_per_ns; };
    std::fprintf(file,
                 R"({"name":"%s","calls":%llu,"mean":%.3f,"min":%.1f,"p50":%.1f,"p99":%.1f,)"
                 R"("max":%.1f,"total":%.0f})",
                 name, static_cast<unsigned long long>(calls_), ns(mean()),
                 ns(calls_ == 0 ? 0 : shortest_), ns(quantile(0.5)), ns(quantile(0.99)),
                 ns(longest_), ns(total_));
  }

private:
  static constexpr unsigned bits = 8;
  static constexpr std::size_t per_octave = std::size_t{1} << bits;

  static std::size_t bucket_of(std::uint64_t value) {
    const unsigned width = static_cast<unsigned>(std::bit_width(value));
    const unsigned shift = width > bits + 1 ? width - bits - 1 : 0;
    return shift * per_octave + static_cast<std::size_t>(value >> shift);
  }

  static double middle_of(std::size_t bucket) {
    const std::size_t shift = bucket < 2 * per_octave ? 0 : bucket / per_octave - 1;
    const auto low = static_cast<double>(bucket - shift * per_octave);
    const auto width = static_cast<double>(std::uint64_t{1} << shift);
    return low * width + (width - 1) / 2;
  }

  std::array<std::uint64_t, per_octave * (64 - bits + 1)> buckets_{};
  std::uint64_t calls_ = 0;
  std::uint64_t total_ = 0;
  std::uint64_t shortest_ = UINT64_MAX;
  std::uint64_t longest_ = 0;
};

} // namespace truth
