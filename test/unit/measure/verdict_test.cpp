// How often the verdict on a difference is wrong: in 1,000 seeded trials, two runs with calls of
// one distribution, and with calls that take a tenth longer. Half of the calls scatter around 8 µs
// like a log-normal distribution, one in a hundred takes up to twenty times as long, and the clock
// counts steps, so that many latencies are equal.
#include "measure/change/difference.hpp"
#include "measure/change/interval.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace ptlens::measure {
namespace {

constexpr int trials = 1000;

// The calls are drawn from a pool with replacement, as counts of its members: quick also where
// tests are not optimised.
class Distribution {
public:
  Distribution(double spread, double step, std::uint64_t seed) : random_(seed) {
    std::normal_distribution<double> logarithm(9, spread);
    std::uniform_real_distribution<double> part(0, 1);
    for (double& member : pool_) {
      double latency = std::exp(logarithm(random_));
      latency *= part(random_) < 0.01 ? 1 + 19 * part(random_) : 1;
      member = step * std::round(latency / step);
    }
    std::ranges::sort(pool_);
  }

  RunOfCalls run(std::size_t calls, double factor = 1) {
    const Counts counts = draw(calls);
    std::vector<std::uint64_t> drawn; // ascending
    drawn.reserve(calls);
    double sum = 0;
    double squares = 0;
    for (std::size_t member = 0; member < size; ++member) {
      const double latency = std::round(pool_[member] * factor);
      const double count = counts[member];
      drawn.insert(drawn.end(), counts[member], static_cast<std::uint64_t>(latency));
      sum += count * latency;
      squares += count * latency * latency;
    }
    const auto count = static_cast<double>(calls);
    RunOfCalls run{.latency = {},
                   .p50 = quantile_interval(drawn, p50_share),
                   .p99 = quantile_interval(drawn, p99_share)};
    run.latency.calls = calls;
    run.latency.mean = sum / count;
    run.latency.stddev = std::sqrt(squares / count - run.latency.mean * run.latency.mean);
    run.latency.p50 = drawn[nearest_rank(calls, p50_share)];
    run.latency.p99 = drawn[nearest_rank(calls, p99_share)];
    run.latencies = std::move(drawn);
    return run;
  }

private:
  static constexpr unsigned bits = 12;
  static constexpr std::size_t size = std::size_t{1} << bits;
  using Counts = std::array<std::uint32_t, size>;

  Counts draw(std::size_t calls) {
    Counts counts{};
    std::uint64_t number = 0;
    unsigned left = 0;
    for (std::size_t call = 0; call < calls; ++call) {
      if (left < bits) {
        number = random_();
        left = 64;
      }
      ++counts[number & (size - 1)];
      number >>= bits;
      left -= bits;
    }
    return counts;
  }

  std::mt19937_64 random_;
  std::array<double, size> pool_{};
};

bool is_change(const Change& change) {
  return change.verdict == Verdict::faster || change.verdict == Verdict::slower;
}

struct Wrong {
  int mean = 0;
  int p50 = 0;
  int p99 = 0;
};

Wrong wrong_verdicts(Distribution distribution, std::size_t calls, int count = trials) {
  Wrong wrong;
  for (int trial = 0; trial < count; ++trial) {
    const RunOfCalls base = distribution.run(calls);
    const Difference found = difference(base, distribution.run(calls), true);
    wrong.mean += is_change(found.mean) ? 1 : 0;
    wrong.p50 += is_change(found.p50) ? 1 : 0;
    wrong.p99 += is_change(found.p99) ? 1 : 0;
  }
  return wrong;
}

constexpr int most_wrong = trials / 20;

TEST(Verdict, IsSeldomWrongOnEqualDistributions) {
  struct Case {
    double spread;
    double step;
  };
  for (const auto& [spread, step] : {Case{0.5, 25}, Case{0.5, 4000}, Case{1.2, 25}}) {
    for (const std::size_t calls : {200U, 2000U}) {
      const Wrong wrong = wrong_verdicts({spread, step, calls}, calls);
      EXPECT_LE(wrong.mean, most_wrong) << spread << " " << step << " " << calls;
      EXPECT_LE(wrong.p50, most_wrong) << spread << " " << step << " " << calls;
      EXPECT_LE(wrong.p99, most_wrong) << spread << " " << step << " " << calls;
      EXPECT_TRUE(calls >= fewest_for_p99 || wrong.p99 == 0);
    }
  }
}

TEST(Verdict, IsSeldomWrongOnManyCalls) {
  const Wrong wrong = wrong_verdicts({0.5, 25, 1}, 20'000);
  EXPECT_LE(wrong.mean, most_wrong);
  EXPECT_LE(wrong.p50, most_wrong);
  EXPECT_LE(wrong.p99, most_wrong);
}

TEST(Verdict, FindsATenthInTwentyThousandCalls) {
  Distribution distribution(0.5, 25, 2);
  constexpr int tried = 200;
  Wrong missed;
  for (int trial = 0; trial < tried; ++trial) {
    const RunOfCalls base = distribution.run(20'000);
    const Difference found = difference(base, distribution.run(20'000, 1.1), true);
    missed.mean += found.mean.verdict != Verdict::slower ? 1 : 0;
    missed.p50 += found.p50.verdict != Verdict::slower ? 1 : 0;
  }
  EXPECT_LE(missed.mean, tried / 20);
  EXPECT_LE(missed.p50, tried / 20);
}

// Each run is slower or faster as a whole by some 2 %, which a verdict of two runs mistakes for a
// change, and one of several runs does not.
TEST(Verdict, OfSeveralRunsAllowsForDrift) {
  Distribution distribution(0.3, 25, 3);
  std::mt19937_64 random(4);
  std::normal_distribution<double> drift(1, 0.02);
  constexpr int tried = 200;
  int wrong = 0;
  int missed = 0;
  const auto side = [&](double factor) {
    std::vector<RunOfCalls> runs;
    for (int run = 0; run < 4; ++run) {
      runs.push_back(distribution.run(4000, factor * drift(random)));
    }
    return runs;
  };
  for (int trial = 0; trial < tried; ++trial) {
    const auto base = side(1);
    wrong += is_change(difference(base, side(1), true).mean) ? 1 : 0;
    missed += difference(base, side(1.1), true).mean.verdict != Verdict::slower ? 1 : 0;
  }
  EXPECT_LE(wrong, tried / 20);
  EXPECT_LE(missed, tried / 20);
}

} // namespace
} // namespace ptlens::measure
