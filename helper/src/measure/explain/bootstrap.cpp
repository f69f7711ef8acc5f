#include "measure/explain/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>

namespace ptlens::measure {

namespace {

constexpr std::size_t resamples = 200;
constexpr std::size_t most_drawn = 4000;
constexpr std::size_t most_population = 16'000; // their values fit a processor's cache
constexpr std::uint64_t seed = 1;

// The calls of a set that resamples are drawn from: all of them, or every so many of a large set.
std::vector<std::uint32_t> population_of(const std::vector<std::uint32_t>& members) {
  const std::size_t size = std::min(members.size(), most_population);
  std::vector<std::uint32_t> population(size);
  for (std::size_t at = 0; at < size; ++at) {
    population[at] = members[at * members.size() / size];
  }
  return population;
}

// Draws rows at random: two with each number of the generator, which takes longer than their use.
class RandomRows {
public:
  // Returns a row below `size`. Lemire, "Fast random integer generation in an interval" (2019),
  // without its correction: the bias is below 2^-32.
  [[nodiscard]] std::uint32_t below(std::size_t size) {
    constexpr unsigned half = 32;
    has_half_ = !has_half_;
    bits_ = has_half_ ? random_() : bits_ << half;
    return static_cast<std::uint32_t>((bits_ >> half) * size >> half);
  }

private:
  std::mt19937_64 random_{seed}; // NOLINT(cert-msc51-cpp): equal input, equal result
  std::uint64_t bits_ = 0;
  bool has_half_ = false; // the low half of bits_ was not used yet
};

// What each of some owners spent in each part, owner by owner. The last part is the latency. Most
// owners spent nothing in most parts, so that only the other values are kept.
class Table {
public:
  Table(const Owners& owners, std::span<const PartValues> parts,
        const std::vector<std::uint32_t>& rows)
      : columns_(parts.size() + 1), first_(rows.size() + 1) {
    constexpr std::uint32_t none = UINT32_MAX;
    std::vector<std::uint32_t> row_of(owners.size(), none);
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
      row_of[rows[row]] = row;
      first_[row + 1] = 1;
    }
    const auto each_value = [&](const auto& use) {
      for (std::uint32_t part = 0; part < parts.size(); ++part) {
        for (const PartValue& value : parts[part].values) {
          if (row_of[value.owner] != none) {
            use(row_of[value.owner], Value{.column = part, .time = value.time});
          }
        }
      }
    };
    each_value([this](std::uint32_t row, const Value&) { ++first_[row + 1]; });
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    values_.resize(first_.back());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    each_value([&](std::uint32_t row, const Value& value) { values_[next[row]++] = value; });
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
      values_[next[row]] = {.column = static_cast<std::uint32_t>(parts.size()),
                            .time =
                                static_cast<double>(owners.calls->latency[owners.call[rows[row]]])};
    }
  }

  [[nodiscard]] std::size_t rows() const { return first_.size() - 1; }
  // Returns the means of all rows.
  [[nodiscard]] std::vector<double> means() const {
    std::vector<double> sums(columns_);
    for (std::uint32_t row = 0; row < rows(); ++row) {
      add(row, sums);
    }
    return divided(std::move(sums), rows());
  }
  // Returns the means of rows that are drawn with replacement.
  [[nodiscard]] std::vector<double> resampled(std::size_t drawn, RandomRows& draws) const {
    std::vector<double> sums(columns_);
    for (std::size_t count = 0; count < drawn; ++count) {
      add(draws.below(rows()), sums);
    }
    return divided(std::move(sums), drawn);
  }

private:
  struct Value {
    std::uint32_t column = 0;
    double time = 0;
  };

  void add(std::uint32_t row, std::vector<double>& sums) const {
    for (std::uint32_t at = first_[row]; at < first_[row + 1]; ++at) {
      sums[values_[at].column] += values_[at].time;
    }
  }
  static std::vector<double> divided(std::vector<double> sums, std::size_t count) {
    for (double& sum : sums) {
      sum /= static_cast<double>(count);
    }
    return sums;
  }

  std::size_t columns_;
  std::vector<std::uint32_t> first_; // by row: in values_
  std::vector<Value> values_;
};

// Returns the share of each part in the difference of the means; nothing where that is 0.
std::vector<double> shares_of(const std::vector<double>& slow, const std::vector<double>& typical) {
  const double gap = slow.back() - typical.back();
  std::vector<double> shares;
  shares.reserve(slow.size());
  for (std::size_t part = 0; gap != 0 && part + 1 < slow.size(); ++part) {
    shares.push_back((slow[part] - typical[part]) / gap);
  }
  return shares;
}

// Returns the interval around `share`, narrowed for a set that is larger than what was drawn from
// it. `middle`: the share in the population.
ShareInterval narrowed(std::vector<double>& shares, double share, double middle, double factor) {
  constexpr double low = 0.025;
  auto unordered = shares.begin();   // everything before is no greater than what follows
  const auto at = [&](double part) { // ascending
    const auto wanted = shares.begin() + std::lround(part * static_cast<double>(shares.size() - 1));
    std::nth_element(unordered, wanted, shares.end());
    unordered = wanted;
    return *wanted;
  };
  const double lowest = at(low);
  return {.low = share + std::min(lowest - middle, 0.0) * factor,
          .high = share + std::max(at(1 - low) - middle, 0.0) * factor};
}

} // namespace

std::vector<ShareInterval> share_intervals(const Owners& owners,
                                           std::span<const PartValues> parts) {
  std::vector<std::uint32_t> slow;
  std::vector<std::uint32_t> typical;
  for (std::uint32_t owner = 0; owner < owners.size(); ++owner) {
    if (owners.is_slow(owner)) {
      slow.push_back(owner);
    }
    if (owners.is_typical(owner)) {
      typical.push_back(owner);
    }
  }
  const Table of_slow(owners, parts, population_of(slow));
  const Table of_typical(owners, parts, population_of(typical));
  const std::size_t drawn_slow = std::min(of_slow.rows(), most_drawn);
  const std::size_t drawn_typical = std::min(of_typical.rows(), most_drawn);
  // The scatter of the slow calls dominates, because their latencies differ most.
  const double factor =
      std::sqrt(static_cast<double>(drawn_slow) / static_cast<double>(slow.size()));
  const std::vector<double> middle = shares_of(of_slow.means(), of_typical.means());
  std::vector<std::vector<double>> shares(parts.size());
  for (std::vector<double>& each : shares) {
    each.reserve(resamples);
  }
  RandomRows draws;
  for (std::size_t count = 0; count < resamples; ++count) {
    const std::vector<double> slow_means = of_slow.resampled(drawn_slow, draws);
    const std::vector<double> drawn =
        shares_of(slow_means, of_typical.resampled(drawn_typical, draws));
    for (std::size_t part = 0; part < drawn.size(); ++part) {
      shares[part].push_back(drawn[part]);
    }
  }
  std::vector<ShareInterval> intervals;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const double share = parts[part].part.share;
    intervals.push_back(shares[part].empty() || middle.empty()
                            ? ShareInterval{share, share}
                            : narrowed(shares[part], share, middle[part], factor));
  }
  return intervals;
}

} // namespace ptlens::measure
