#include "measure/explain/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace ptlens::measure {

namespace {

constexpr std::size_t resamples = 200;
constexpr std::size_t most_drawn = 4000;
constexpr std::uint64_t seed = 1;

using Draw = std::vector<std::uint32_t>; // how often each owner was drawn

// Draws `drawn` members with replacement. Lemire, "Fast random integer generation in an interval"
// (2019), without its correction: the bias is below 2^-32.
void draw(const std::vector<std::uint32_t>& members, std::size_t drawn, std::mt19937_64& random,
          Draw& result) {
  std::ranges::fill(result, 0);
  for (std::size_t count = 0; count < drawn; ++count) {
    constexpr unsigned half = 32;
    const std::uint64_t number = (random() >> half) * members.size() >> half;
    ++result[members[number]];
  }
}

double mean(const Draw& draws, std::span<const PartValue> values, std::size_t drawn) {
  double sum = 0;
  for (const PartValue& value : values) {
    sum += value.time * draws[value.owner];
  }
  return sum / static_cast<double>(drawn);
}

// Narrows the interval around the share, for a set that is larger than what was drawn from it.
ShareInterval narrowed(std::vector<double>& shares, double share, double factor) {
  constexpr double low = 0.025;
  std::ranges::sort(shares);
  const auto at = [&shares](double part) {
    return shares[static_cast<std::size_t>(part * static_cast<double>(shares.size() - 1) + 0.5)];
  };
  return {.low = share + std::min(at(low) - share, 0.0) * factor,
          .high = share + std::max(at(1 - low) - share, 0.0) * factor};
}

} // namespace

std::vector<ShareInterval> share_intervals(const Owners& owners,
                                           std::span<const PartValues> parts) {
  std::vector<std::uint32_t> slow;
  std::vector<std::uint32_t> typical;
  std::vector<PartValue> latencies(owners.size());
  for (std::uint32_t owner = 0; owner < owners.size(); ++owner) {
    latencies[owner] = {.owner = owner,
                        .time = static_cast<double>(owners.calls->latency[owners.call[owner]])};
    if (owners.is_slow(owner)) {
      slow.push_back(owner);
    }
    if (owners.is_typical(owner)) {
      typical.push_back(owner);
    }
  }
  const std::size_t drawn_slow = std::min(slow.size(), most_drawn);
  const std::size_t drawn_typical = std::min(typical.size(), most_drawn);
  // The scatter of the slow calls dominates, because their latencies differ most.
  const double factor =
      std::sqrt(static_cast<double>(drawn_slow) / static_cast<double>(slow.size()));
  std::vector<std::vector<double>> shares(parts.size());
  std::mt19937_64 random(seed); // NOLINT(cert-msc51-cpp): equal input, equal result
  Draw slow_draws(owners.size());
  Draw typical_draws(owners.size());
  for (std::size_t count = 0; count < resamples; ++count) {
    draw(slow, drawn_slow, random, slow_draws);
    draw(typical, drawn_typical, random, typical_draws);
    const auto difference = [&](std::span<const PartValue> values) {
      return mean(slow_draws, values, drawn_slow) - mean(typical_draws, values, drawn_typical);
    };
    const double gap = difference(latencies);
    if (gap == 0) {
      continue;
    }
    for (std::size_t part = 0; part < parts.size(); ++part) {
      shares[part].push_back(difference(parts[part].values) / gap);
    }
  }
  std::vector<ShareInterval> intervals;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const double share = parts[part].part.share;
    intervals.push_back(shares[part].empty() ? ShareInterval{share, share}
                                             : narrowed(shares[part], share, factor));
  }
  return intervals;
}

} // namespace ptlens::measure
