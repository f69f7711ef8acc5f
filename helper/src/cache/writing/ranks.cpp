// Values are counted by bucket, then counted again in the buckets that contain a rank.
#include "cache/writing/ranks.hpp"

#include <algorithm>

namespace ptlens::cache {

namespace {

constexpr std::uint64_t short_stream = 8192;
constexpr std::size_t few = 512; // where selection by comparison is faster

} // namespace

Ranks::Ranks(std::span<const Share> shares, std::uint64_t most) : shares_(shares) {
  if (most > short_stream) {
    counts_.resize(bucket_count);
  }
}

void Ranks::add(std::span<const std::uint64_t> values) {
  seen_ += values.size();
  if (counts_.empty()) {
    values_.insert(values_.end(), values.begin(), values.end());
    return;
  }
  for (const std::uint64_t value : values) {
    ++counts_[bucket_of(value)];
  }
}

void Ranks::add(const Ranks& other) {
  if (other.counts_.empty()) {
    add(other.values_);
    return;
  }
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    counts_[bucket] += other.counts_[bucket];
  }
  seen_ += other.seen_;
}

std::uint64_t Ranks::rank(const Share& share) const {
  const auto of = [&](auto seen) {
    const auto rank = (seen * share.part + share.whole - 1) / share.whole;
    return rank == 0 ? 0 : static_cast<std::uint64_t>(rank - 1);
  };
  __extension__ using Wide = unsigned __int128;
  constexpr int bits = 64; // dividing wider numbers takes ten times as long
  const bool fits =
      std::bit_width(seen_) + std::bit_width(std::max(share.part, share.whole)) < bits;
  return fits ? of(seen_) : of(Wide{seen_});
}

bool Ranks::aim() {
  if (counts_.empty() || seen_ == 0) {
    return false;
  }
  std::uint64_t before = 0;
  std::size_t bucket = 0;
  bool again = false;
  for (const Share& share : shares_) {
    const std::uint64_t wanted = rank(share);
    while (before + counts_[bucket] <= wanted) {
      before += counts_[bucket++];
    }
    if (wanted_.empty() || wanted_.back().bucket != bucket) {
      Wanted& added = wanted_.emplace_back();
      added.bucket = bucket;
      added.least = least_of(bucket);
      added.shift = shift_of(bucket);
      if (added.shift != 0 && added.shift <= second_bits) {
        added.counts.resize(std::size_t{1} << added.shift);
      }
      again = again || added.shift != 0;
    }
    places_.push_back({.wanted = wanted_.size() - 1, .before = wanted - before});
  }
  return again;
}

bool Ranks::wants(std::uint64_t least, std::uint64_t most) const {
  return std::ranges::any_of(wanted_, [&](const Wanted& wanted) {
    const std::uint64_t last = wanted.least + ((std::uint64_t{1} << wanted.shift) - 1);
    return wanted.shift != 0 && least <= last && wanted.least <= most;
  });
}

void Ranks::add_again(std::span<const std::uint64_t> values) {
  for (Wanted& wanted : wanted_) {
    if (wanted.shift == 0) {
      continue;
    }
    for (const std::uint64_t value : values) {
      const std::uint64_t above = value - wanted.least;
      if (above >> wanted.shift != 0) {
        continue;
      }
      if (!wanted.counts.empty()) {
        ++wanted.counts[above];
      } else {
        wanted.different.push_back(value);
      }
    }
  }
}

void Ranks::add_again(const Ranks& copy) {
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const Wanted& other = copy.wanted_[i];
    for (std::size_t at = 0; at < other.counts.size(); ++at) {
      wanted_[i].counts[at] += other.counts[at];
    }
    wanted_[i].different.insert(wanted_[i].different.end(), other.different.begin(),
                                other.different.end());
  }
}

std::vector<std::uint64_t> Ranks::values() {
  std::vector<std::uint64_t> found;
  if (seen_ == 0) {
    found.resize(shares_.size());
    return found;
  }
  if (values_.size() > few) {
    Ranks counted(shares_, UINT64_MAX);
    counted.add(values_);
    if (counted.aim()) {
      counted.add_again(values_);
    }
    return counted.values();
  }
  if (counts_.empty()) {
    auto unordered = values_.begin(); // everything before is no greater than what follows
    for (const Share& share : shares_) {
      const auto wanted = values_.begin() + static_cast<std::ptrdiff_t>(rank(share));
      if (wanted >= unordered) {
        std::nth_element(unordered, wanted, values_.end());
        unordered = wanted + 1;
      }
      found.push_back(*wanted);
    }
    return found;
  }
  for (const Place& place : places_) {
    Wanted& wanted = wanted_[place.wanted];
    if (wanted.shift == 0) {
      found.push_back(wanted.least);
    } else if (!wanted.counts.empty()) {
      std::uint64_t before = place.before;
      std::uint64_t value = 0;
      while (before >= wanted.counts[value]) {
        before -= wanted.counts[value++];
      }
      found.push_back(wanted.least + value);
    } else {
      const auto at = wanted.different.begin() + static_cast<std::ptrdiff_t>(place.before);
      std::nth_element(wanted.different.begin(), at, wanted.different.end());
      found.push_back(*at);
    }
  }
  return found;
}

} // namespace ptlens::cache
