// Counting, aiming, counting again.
#include "measure/ranks.hpp"

#include <algorithm>

namespace ptlens::measure {

namespace {

constexpr std::uint64_t short_stream = 8192;
constexpr std::size_t few = 128; // where selection by comparison is faster

} // namespace

Ranks::Ranks(std::span<const Share> shares, std::uint64_t most)
    : shares_(shares.begin(), shares.end()) {
  if (most > short_stream) {
    counts_.resize(bucket_count);
  }
}

void Ranks::add(std::span<const std::uint64_t> values) {
  seen_ += values.size();
  if (counts_.empty()) {
    kept_.insert(kept_.end(), values.begin(), values.end());
    return;
  }
  for (const std::uint64_t value : values) {
    ++counts_[bucket_of(value)];
  }
}

std::uint64_t Ranks::rank(const Share& share) const {
  __extension__ using Wide = unsigned __int128;
  const Wide rank = (Wide{seen_} * share.part + share.whole - 1) / share.whole;
  return rank == 0 ? 0 : static_cast<std::uint64_t>(rank - 1);
}

bool Ranks::aim() {
  if (counts_.empty() || seen_ == 0) {
    return false;
  }
  wanted_at_.fill(unwanted);
  std::uint64_t before = 0;
  std::size_t bucket = 0;
  bool again = false;
  for (const Share& share : shares_) {
    const std::uint64_t wanted = rank(share);
    while (before + counts_[bucket] <= wanted) {
      before += counts_[bucket++];
    }
    if (wanted_at_[bucket] == unwanted) {
      wanted_at_[bucket] = static_cast<std::uint8_t>(wanted_.size());
      Wanted& added = wanted_.emplace_back();
      added.bucket = bucket;
      added.shift = shift_of(bucket);
      if (added.shift != 0 && added.shift <= second_bits) {
        added.counts.resize(std::size_t{1} << added.shift);
      }
      again = again || added.shift != 0;
    }
    places_.push_back({.wanted = wanted_at_[bucket], .before = wanted - before});
  }
  return again;
}

void Ranks::add_again(std::span<const std::uint64_t> values) {
  for (const std::uint64_t value : values) {
    const std::uint8_t at = wanted_at_[bucket_of(value)];
    if (at == unwanted) {
      continue;
    }
    Wanted& wanted = wanted_[at];
    if (!wanted.counts.empty()) {
      ++wanted.counts[value & (wanted.counts.size() - 1)];
    } else if (wanted.shift != 0) {
      wanted.different.push_back(value);
    }
  }
}

std::vector<std::uint64_t> Ranks::values() {
  std::vector<std::uint64_t> found;
  if (seen_ == 0) {
    found.resize(shares_.size());
    return found;
  }
  if (kept_.size() > few) {
    Ranks counted(shares_, UINT64_MAX);
    counted.add(kept_);
    if (counted.aim()) {
      counted.add_again(kept_);
    }
    return counted.values();
  }
  if (counts_.empty()) {
    auto unordered = kept_.begin(); // everything before is no greater than what follows
    for (const Share& share : shares_) {
      const auto wanted = kept_.begin() + static_cast<std::ptrdiff_t>(rank(share));
      if (wanted >= unordered) {
        std::nth_element(unordered, wanted, kept_.end());
        unordered = wanted + 1;
      }
      found.push_back(*wanted);
    }
    return found;
  }
  for (const Place& place : places_) {
    Wanted& wanted = wanted_[place.wanted];
    const std::uint64_t least = least_of(wanted.bucket);
    if (wanted.shift == 0) {
      found.push_back(least);
    } else if (!wanted.counts.empty()) {
      std::uint64_t before = place.before;
      std::uint64_t value = 0;
      while (before >= wanted.counts[value]) {
        before -= wanted.counts[value++];
      }
      found.push_back(least + value);
    } else {
      const auto at = wanted.different.begin() + static_cast<std::ptrdiff_t>(place.before);
      std::nth_element(wanted.different.begin(), at, wanted.different.end());
      found.push_back(*at);
    }
  }
  return found;
}

} // namespace ptlens::measure
