// What the sample programs in this folder share: their options, when they end, and the truth that
// they write at the end, one JSON object: the calls of their functions by their own clock, what the
// clock costs, and how much work was done when.
//
//   --truth FILE   writes the truth there, not to stdout
//   --seconds S    ends after that time; without it, and without a number of calls, at SIGTERM
//
// A program prints "running" when its work begins.
#pragma once

#include "clock.hpp"
#include "latencies.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// Keeps the function as in the source: not inlined, not cloned, and with all its calls.
#if defined(__clang__)
#define OWN_FUNCTION [[gnu::noinline]]
#else
#define OWN_FUNCTION [[gnu::noipa]]
#endif

namespace truth {

inline std::atomic<bool> stopped{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

// How much work one thread had done, every 10 ms.
class Timeline {
public:
  struct Point {
    std::uint64_t ticks = 0;
    std::uint64_t done = 0;
  };

  explicit Timeline(double ticks_per_ns)
      : interval_(static_cast<std::uint64_t>(ticks_per_ns * 10'000'000)) {}

  // Notes that `done` units of work are done.
  void add(std::uint64_t now, std::uint64_t done) {
    if (now >= next_ && points_.size() < most_points) {
      points_.push_back({now, done});
      next_ = now + interval_;
    }
    last_ = {now, done};
  }

  // Returns how much was done at that time, in between by interpolation.
  [[nodiscard]] double at(std::uint64_t time) const {
    Point before = points_.empty() ? last_ : points_.front();
    if (time <= before.ticks) {
      return 0;
    }
    for (const Point& point : points_) {
      if (point.ticks >= time) {
        return between(before, point, time);
      }
      before = point;
    }
    return time >= last_.ticks ? static_cast<double>(last_.done) : between(before, last_, time);
  }

  [[nodiscard]] const Point& last() const { return last_; }

private:
  static double between(const Point& one, const Point& other, std::uint64_t time) {
    const double share =
        static_cast<double>(time - one.ticks) / static_cast<double>(other.ticks - one.ticks);
    return static_cast<double>(one.done) + share * static_cast<double>(other.done - one.done);
  }

  static constexpr std::size_t most_points = 100'000;

  std::uint64_t interval_;
  std::uint64_t next_ = 0;
  Point last_;
  std::vector<Point> points_;
};

// Calls by the program's own clock: the ticks at their start, and of their latency.
using CallList = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

class Program {
public:
  using Options = std::vector<std::pair<const char*, double*>>;

  // Reads the arguments: --truth, --seconds and the program's own, all with a value. Exits with 2
  // for others.
  Program(int count, char** words, const Options& options) {
    for (int index = 1; index < count; index += 2) {
      read(words[0], words[index], index + 1 < count ? words[index + 1] : nullptr, options);
    }
    rate_ = measured_rate();
    struct sigaction action{};
    action.sa_handler = [](int) { stopped = true; };
    sigaction(SIGTERM, &action, nullptr);
  }

  // Says that the work begins. Call it once, just before.
  void start() {
    std::puts("running");
    std::fflush(stdout);
    begin_ = moment();
  }

  [[nodiscard]] double ticks_per_ns() const { return rate_; }
  [[nodiscard]] std::uint64_t ticks_of(double ns) const {
    return static_cast<std::uint64_t>(ns * rate_);
  }

  [[nodiscard]] bool ends(std::uint64_t now) const {
    return stopped.load(std::memory_order_relaxed) ||
           (seconds_ > 0 && now - begin_.ticks > ticks_of(seconds_ * 1e9));
  }

  // Writes the truth. Returns the exit status.
  [[nodiscard]] int finish(const std::vector<std::pair<const char*, const Latencies*>>& functions,
                           const std::vector<const Timeline*>& timelines = {},
                           const CallList& list = {}) const {
    const Moment end = moment();
    const double rate = truth::ticks_per_ns(begin_, end);
    std::FILE* file = truth_.empty() ? stdout : std::fopen(truth_.c_str(), "w");
    if (file == nullptr) {
      std::perror(truth_.c_str());
      return 1;
    }
    std::fprintf(file, R"({"seconds":%.6f,"clock_ns":%.1f,"functions":[)",
                 static_cast<double>(end.ns - begin_.ns) / 1e9, clock_cost() / rate);
    for (std::size_t index = 0; index < functions.size(); ++index) {
      std::fputs(index > 0 ? "," : "", file);
      functions[index].second->write(file, functions[index].first, rate);
    }
    std::fputs("]", file);
    write(file, timelines, end, rate);
    write(file, list, rate);
    std::fputs("}\n", file);
    return file == stdout || std::fclose(file) == 0 ? 0 : 1;
  }

private:
  void read(const char* program, const char* name, const char* value, const Options& options) {
    if (value != nullptr && std::strcmp(name, "--truth") == 0) {
      truth_ = value;
      return;
    }
    double* number = std::strcmp(name, "--seconds") == 0 ? &seconds_ : nullptr;
    for (const auto& [option, target] : options) {
      number = std::strcmp(name, option) == 0 ? target : number;
    }
    char* end = nullptr;
    if (number != nullptr && value != nullptr) {
      *number = std::strtod(value, &end);
    }
    if (end == nullptr || end == value || *end != '\0' || *number < 0) {
      std::fprintf(stderr, "usage: %s [--truth FILE] [--seconds S]", program);
      for (const auto& option : options) {
        std::fprintf(stderr, " [%s N]", option.first);
      }
      std::fputs("\n", stderr);
      std::exit(2);
    }
  }

  // Returns the ticks that pass between two readings, one after the other: that much is in each
  // latency.
  static double clock_cost() {
    Latencies empty;
    for (int turn = 0; turn < 1'000; ++turn) {
      const std::uint64_t begin = ticks();
      empty.add(ticks() - begin);
    }
    return empty.quantile(0.5);
  }

  // Writes "done" and "timeline": [[ns of CLOCK_MONOTONIC, done], …], all threads together, every
  // 10 ms.
  void write(std::FILE* file, const std::vector<const Timeline*>& timelines, const Moment& end,
             double rate) const {
    if (timelines.empty()) {
      return;
    }
    std::uint64_t done = 0;
    for (const Timeline* timeline : timelines) {
      done += timeline->last().done;
    }
    std::fprintf(file, R"(,"done":%llu,"timeline":[)", static_cast<unsigned long long>(done));
    for (std::uint64_t ns = begin_.ns; ns <= end.ns; ns += 10'000'000) {
      const auto time =
          begin_.ticks + static_cast<std::uint64_t>(static_cast<double>(ns - begin_.ns) * rate);
      double sum = 0;
      for (const Timeline* timeline : timelines) {
        sum += timeline->at(time);
      }
      std::fprintf(file, "%s[%llu,%.1f]", ns > begin_.ns ? "," : "",
                   static_cast<unsigned long long>(ns), sum);
    }
    std::fputs("]", file);
  }

  // Writes "list": [[ns of CLOCK_MONOTONIC at the start, ns of the latency], …].
  void write(std::FILE* file, const CallList& list, double rate) const {
    if (list.empty()) {
      return;
    }
    const char* separator = R"(,"list":[)";
    for (const auto& [start, latency] : list) {
      std::fprintf(file, "%s[%.0f,%.0f]", separator,
                   static_cast<double>(begin_.ns) +
                       static_cast<double>(start - begin_.ticks) / rate,
                   static_cast<double>(latency) / rate);
      separator = ",";
    }
    std::fputs("]", file);
  }

  std::string truth_;
  double seconds_ = 0;
  double rate_ = 1;
  Moment begin_;
};

} // namespace truth
