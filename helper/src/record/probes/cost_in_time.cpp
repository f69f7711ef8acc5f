// The calls are divided into intervals of a few milliseconds, and each interval has a median,
// because other virtual machines use a core for tenths of a second.
#include "record/probes/cost_in_time.hpp"

#include "base/quantile.hpp"
#include "record/probes/probe_sample.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace ptlens::record {
namespace {

// The time between two hits of one instruction excludes the return to the program and the next
// entry to the kernel. On virtual machines the latency differs by this share between processes, and
// by half of it when the exit's hits are known as well as the entry's.
constexpr double apart_from_hits = 0.2;
constexpr std::size_t least_calls = 7; // for a median that one interrupt does not change
constexpr std::uint64_t shortest_ns = 5'000'000;
constexpr std::uint64_t most_intervals = 100'000; // of all threads

struct Hit {
  std::uint64_t time_ns = 0;
  std::uint64_t ip = 0;
};

// The calls of one thread.
class ThreadCost {
public:
  ThreadCost(std::int32_t tid, const ProbeCost& cost, std::uint64_t interval_ns)
      : cost_(&cost), interval_ns_(interval_ns) {
    in_time_.tid = tid;
  }

  void enter(const Hit& entry) {
    other();
    entered_ = entry;
  }
  void leave(const Hit& exit) {
    other();
    left_ = exit;
  }
  void other() {
    entered_.reset();
    left_.reset();
  }

  void after_exit(const Hit& exit) {
    if (left_ && exit.ip == left_->ip && exit.time_ns >= left_->time_ns && !between_.empty()) {
      exit_between_.push_back(static_cast<double>(exit.time_ns - left_->time_ns));
    }
    other();
  }

  void after_entry(const Hit& entry) {
    if (!entered_ || entry.time_ns < entered_->time_ns) {
      return;
    }
    const bool emulated = entered_->ip == entry.ip;
    if (!between_.empty() && (emulated != emulated_ || is_full(entry.time_ns))) {
      close();
    }
    if (between_.empty()) {
      begin_ns_ = entered_->time_ns;
      emulated_ = emulated;
    }
    between_.push_back(static_cast<double>(entry.time_ns - entered_->time_ns));
    other();
  }

  CostInTime finish() {
    if (between_.size() >= least_calls || in_time_.from_ns.empty()) {
      close();
    }
    return std::move(in_time_);
  }

private:
  [[nodiscard]] bool is_full(std::uint64_t now_ns) const {
    return between_.size() >= least_calls && now_ns - begin_ns_ > interval_ns_;
  }

  void close() {
    const TimedHitCost& cost = cost_->of_timed(emulated_);
    if (between_.empty() || cost.between_ns <= 0 || cost.latency_ns <= 0) {
      return;
    }
    const double count = static_cast<double>(between_.size());
    // The error of the median, from the interquartile range.
    const double median_error =
        (quantile(between_, 0.75) - quantile(between_, 0.25)) / std::sqrt(count);
    const double between = median(between_);
    const bool both = exit_between_.size() >= least_calls;
    const double exit_between = both ? median(exit_between_) : 0;
    const double latency = std::max(1.0, cost.latency_at(between, exit_between, emulated_));
    const double scale = latency / cost.latency_ns;
    // The two costs can change differently from those of the calibration.
    const double apart =
        emulated_ ? (apart_from_hits + std::abs(scale - 1) / 2) * latency * (both ? 0.5 : 1)
                  : std::abs(scale - 1) * std::abs(cost.latency_ns - cost.between_ns);
    between_.clear();
    exit_between_.clear();
    in_time_.from_ns.push_back(begin_ns_);
    in_time_.scale.push_back(rounded(scale));
    in_time_.hit_scale.push_back(rounded(emulated_ ? between / cost.between_ns : scale));
    in_time_.uncertainty.push_back(rounded((cost.residual_ns + apart + median_error) / latency));
  }

  static double rounded(double value) {
    constexpr double steps = 10'000;
    return std::round(value * steps) / steps;
  }

  const ProbeCost* cost_;
  std::uint64_t interval_ns_;
  std::optional<Hit> entered_; // the thread's last hit, if it was an entry
  std::optional<Hit> left_;    // the thread's last hit, if it was an exit
  std::uint64_t begin_ns_ = 0;
  bool emulated_ = false;
  std::vector<double> between_;
  std::vector<double> exit_between_;
  CostInTime in_time_;
};

std::uint64_t interval_of(std::span<const perfdata::Sample> samples) {
  std::set<std::int32_t> threads;
  for (const perfdata::Sample& sample : samples) {
    threads.insert(sample.tid);
  }
  const std::uint64_t span_ns =
      samples.empty() ? 0 : samples.back().time_ns - samples.front().time_ns;
  return std::max(shortest_ns, span_ns / most_intervals * threads.size());
}

} // namespace

std::vector<CostInTime> cost_in_time(std::span<const perfdata::Sample> samples,
                                     std::span<const perfdata::Attribute> attributes,
                                     std::span<const Probe> probes, const ProbeCost& cost) {
  const auto entry = event_of(probes, Probe::Kind::entry);
  const auto after_entry = event_of(probes, Probe::Kind::after_entry);
  const auto after_exit = event_of(probes, Probe::Kind::after_exit);
  std::vector<CostInTime> costs;
  if (!after_entry) {
    return costs;
  }
  const std::uint64_t interval_ns = interval_of(samples);
  std::vector<ThreadCost> threads;
  std::map<std::int32_t, std::size_t> index;
  for (const perfdata::Sample& sample : samples) {
    const auto ip = instruction_pointer(sample.raw);
    if (!ip || sample.attribute >= attributes.size()) {
      continue;
    }
    const auto [at, added] = index.try_emplace(sample.tid, threads.size());
    if (added) {
      threads.emplace_back(sample.tid, cost, interval_ns);
    }
    ThreadCost& thread = threads[at->second];
    const std::uint64_t event = attributes[sample.attribute].config;
    const Hit hit{.time_ns = sample.time_ns, .ip = *ip};
    if (event == *after_entry) {
      thread.after_entry(hit);
    } else if (event == entry) {
      thread.enter(hit);
    } else if (event == after_exit) {
      thread.after_exit(hit);
    } else {
      thread.leave(hit);
    }
  }
  for (ThreadCost& thread : threads) {
    CostInTime of = thread.finish();
    if (!of.from_ns.empty()) {
      costs.push_back(std::move(of));
    }
  }
  return costs;
}

} // namespace ptlens::record
