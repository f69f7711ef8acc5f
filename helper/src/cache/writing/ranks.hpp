// Exact values of some ranks of a stream that is read twice and not stored. The first pass counts
// values by bucket, the second looks only into the buckets that contain a rank (Munro and Paterson:
// Selection and Sorting with Limited Storage, TCS 1980). Each small value has its own bucket, so
// that most streams are read once. Larger values have the buckets of HDR histograms, 32 for each
// power of two. Short streams are stored and read once.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::cache {

// Nearest rank: the smallest value that at least `part` of `whole` values do not exceed.
struct Share {
  std::uint64_t part = 0;
  std::uint64_t whole = 1;
};

class Ranks {
public:
  // `most`: an upper bound of the number of values. The shares must outlive the object.
  Ranks(std::span<const Share> shares, std::uint64_t most);

  void add(std::span<const std::uint64_t> values);
  // Adds the values of the other object, on which aim() was not called yet.
  void add(const Ranks& other);
  // Must be called after all values were added. Returns true where they must be added again, in any
  // order.
  [[nodiscard]] bool aim();
  void add_again(std::span<const std::uint64_t> values);
  // Adds the values that a copy has seen again. The copy was made after aim().
  void add_again(const Ranks& copy);
  // Returns whether values in [least, most] must be added again.
  [[nodiscard]] bool wants(std::uint64_t least, std::uint64_t most) const;

  // Returns one value for each share, ascending; all 0 where there were no values.
  [[nodiscard]] std::vector<std::uint64_t> values();

  // Calls `use` with each bit width and the number of values that have it.
  template <class Use>
  void each_width(const Use& use) const {
    for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
      if (counts_[bucket] != 0) {
        use(width_of(bucket), counts_[bucket]);
      }
    }
    for (const std::uint64_t value : values_) {
      use(static_cast<unsigned>(std::bit_width(value)), std::uint64_t{1});
    }
  }

private:
  static constexpr unsigned fine_bits = 5;
  static constexpr unsigned second_bits = 11;
  static constexpr unsigned small_bits = 12;
  static constexpr std::uint64_t first_shared = std::uint64_t{1} << small_bits; // value
  // The number of a shared bucket, minus its number without the buckets of small values.
  static constexpr std::size_t raised =
      first_shared - ((std::size_t{small_bits - fine_bits} + 1) << fine_bits);
  static constexpr unsigned value_bits = 64;
  static constexpr std::size_t bucket_count =
      raised + ((std::size_t{value_bits - fine_bits} + 1) << fine_bits);

  struct Wanted { // a bucket that contains a rank
    std::size_t bucket = 0;
    std::uint64_t least = 0;              // of its values
    unsigned shift = 0;                   // its values differ in that many low bits
    std::vector<std::uint64_t> counts;    // by those bits, where they are few
    std::vector<std::uint64_t> different; // its values, where they are many
  };
  struct Place { // of a rank
    std::size_t wanted = 0;
    std::uint64_t before = 0; // its rank in the bucket, from 0
  };

  [[nodiscard]] static std::size_t bucket_of(std::uint64_t value) {
    if (value < first_shared) {
      return value;
    }
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - fine_bits - 1;
    return raised + (std::size_t{shift} << fine_bits) + (value >> shift);
  }
  [[nodiscard]] static unsigned shift_of(std::size_t bucket) {
    return bucket < first_shared ? 0 : static_cast<unsigned>((bucket - raised) >> fine_bits) - 1;
  }
  [[nodiscard]] static std::uint64_t least_of(std::size_t bucket) {
    if (bucket < first_shared) {
      return bucket;
    }
    const unsigned shift = shift_of(bucket);
    return static_cast<std::uint64_t>(bucket - raised - (std::size_t{shift} << fine_bits)) << shift;
  }
  [[nodiscard]] static unsigned width_of(std::size_t bucket) {
    return static_cast<unsigned>(std::bit_width(least_of(bucket)));
  }
  [[nodiscard]] std::uint64_t rank(const Share& share) const; // from 0

  std::span<const Share> shares_;
  std::uint64_t seen_ = 0;
  std::vector<std::uint64_t> values_; // of a short stream
  std::vector<std::uint64_t> counts_; // of a long one, by bucket
  std::vector<Wanted> wanted_;
  std::vector<Place> places_; // by share
};

} // namespace ptlens::cache
