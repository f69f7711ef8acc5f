// The kernel counts the hits of every probe (uprobe_profile, Documentation/trace/uprobetracer.rst),
// whether or not an event samples them. An event that is opened on one thread sets the breakpoints
// in its whole process.
#include "record/probes/cost/call_counts.hpp"

#include "record/probes/cost/run_time.hpp"
#include "record/probes/events/hit_events.hpp"
#include "record/processes/fields.hpp"
#include "record/processes/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <linux/perf_event.h>
#include <map>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace ptlens::record {
namespace {

using Clock = std::chrono::steady_clock;

Result<Descriptor> open_counter(std::uint64_t event_id, std::int32_t pid) {
  perf_event_attr attribute{};
  attribute.type = PERF_TYPE_TRACEPOINT;
  attribute.size = sizeof attribute;
  attribute.config = event_id;
  Descriptor opened(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attribute, pid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!opened.valid()) {
    return std::unexpected(
        Error{.message = fmt::format("calls cannot be counted: {}", std::strerror(errno))});
  }
  return opened;
}

// What is counted at the same time.
struct Count {
  std::vector<Counted> functions;
  double seconds = 0;
  RunTime could_run;
  Counter counter;
};

class CallCounting {
public:
  CallCounting(const ProbeCost& cost, const TargetFiles& files, const std::string& tracefs,
               std::int32_t pid)
      : cost_(cost), files_(files), tracefs_(tracefs), pid_(pid) {}

  [[nodiscard]] Result<Count> count(std::span<const PlannedProbe* const> entries) const {
    auto group = ProbeGroup::make(tracefs_);
    if (!group) {
      return std::unexpected(group.error());
    }
    const std::string event = group->name(); // the profile contains no names of groups
    Count count{
        .functions = {}, .could_run = {}, .counter = {.group = std::move(*group), .held = {}}};
    std::vector<bool> counted;
    for (const PlannedProbe* const probe : entries) {
      const TargetFile* const file = files_.file_of(probe->place.binary.get());
      counted.push_back(
          file != nullptr &&
          count.counter.group.add(event, file->open_path, probe->file_offset, "sp=%sp:u64"));
    }
    const auto id = count.counter.group.event_id(event, {"sp"});
    if (!id) {
      return std::unexpected(id.error());
    }
    auto held = hold({.name = event, .filter = {}, .id = *id});
    if (!held) {
      return std::unexpected(held.error());
    }
    count.counter.held = std::move(*held);
    const auto hits = wait_for_hits(event, *id, count);
    if (!hits) {
      return std::unexpected(hits.error());
    }
    std::size_t line = 0;
    for (std::size_t index = 0; index < entries.size(); ++index) {
      const PlannedProbe& probe = *entries[index];
      const HitCost& hit = cost_.of(is_emulated(probe.place.binary->code_at(probe.address)));
      const bool known = counted[index] && line < hits->size();
      count.functions.push_back({.hits = known ? (*hits)[line] : 0, .hit_ns = hit.frequent_ns});
      line += counted[index] ? 1 : 0;
    }
    return count;
  }

private:
  // Returns the hits of each probe, and sets how long they were counted.
  Result<std::vector<std::uint64_t>> wait_for_hits(const std::string& event, std::uint64_t id,
                                                   Count& count) const {
    constexpr std::chrono::milliseconds longest(150);
    constexpr std::chrono::milliseconds first_pause(1);
    constexpr std::uint64_t enough = 600;
    auto counter = open_counter(id, pid_);
    if (!counter) {
      return std::unexpected(counter.error());
    }
    std::vector<std::uint64_t> hits = hits_of(event);
    const std::vector<std::uint64_t> before = hits;
    const ThreadTimes times_before = run_times_of(pid_);
    const Clock::time_point begin = Clock::now();
    Clock::time_point now = begin;
    std::uint64_t sum = 0;
    for (auto pause = first_pause; now - begin < longest && sum < enough; pause *= 2) {
      std::this_thread::sleep_for(std::min(pause, longest / 4));
      now = Clock::now();
      hits = hits_of(event);
      if (hits.size() != before.size()) {
        return std::unexpected(Error{.message = "the kernel does not count the hits of probes"});
      }
      sum = 0;
      for (std::size_t index = 0; index < hits.size(); ++index) {
        hits[index] -= before[index];
        sum += hits[index];
      }
    }
    *counter = Descriptor(); // removes the breakpoints from the program
    constexpr double ns_per_s = 1e9;
    count.seconds = std::chrono::duration<double>(now - begin).count();
    count.could_run.add(count.seconds * ns_per_s, times_before, run_times_of(pid_));
    return hits;
  }

  [[nodiscard]] std::vector<std::uint64_t> hits_of(std::string_view event) const {
    constexpr std::size_t longest_profile = std::size_t{16} << 20;
    return parse_profile(read_text(tracefs_ + "/uprobe_profile", longest_profile).value_or(""),
                         event);
  }

  const ProbeCost& cost_;
  const TargetFiles& files_;
  const std::string& tracefs_;
  std::int32_t pid_;
};

} // namespace

std::vector<std::uint64_t> parse_profile(std::string_view text, std::string_view event) {
  std::vector<std::uint64_t> hits;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    next_field(line); // file
    if (next_field(line) == event) {
      hits.push_back(to_number<std::uint64_t>(next_field(line)).value_or(0));
    }
  }
  return hits;
}

bool hides_others(std::span<const CallRate> rates) {
  return std::ranges::any_of(rates, &CallRate::is_least);
}

std::vector<CallRate> rates_of(std::span<const Counted> functions, double seconds, double cpus) {
  constexpr double ns_per_s = 1e9;
  constexpr double least_part = 0.05; // a larger part would be known only roughly
  constexpr double most_of_it = 0.5;
  double hits_ns = 0;
  for (const Counted& function : functions) {
    hits_ns += static_cast<double>(function.hits) * function.hit_ns;
  }
  const double alone = 1 - hits_ns / std::max(1.0, cpus * seconds * ns_per_s);
  const double alone_s = seconds * std::max(alone, least_part);
  std::vector<CallRate> rates;
  for (const Counted& function : functions) {
    const auto hits = static_cast<double>(function.hits);
    rates.push_back({.counted = hits / seconds,
                     .alone = hits / alone_s,
                     .most = (hits + 1) / alone_s,
                     .is_least = function.hits != 0 && alone < most_of_it});
  }
  return rates;
}

Result<CallCounts> count_calls(const ProbePlan& plan, const ProbeCost& cost,
                               const TargetFiles& files, const std::string& tracefs,
                               std::int32_t pid) {
  std::vector<const PlannedProbe*> requested;
  std::vector<const PlannedProbe*> others;
  for (const PlannedProbe& probe : plan.probes) {
    if (probe.kind == Probe::Kind::entry) {
      (probe.target || probe.needed ? requested : others).push_back(&probe);
    }
  }
  const CallCounting counting(cost, files, tracefs, pid);
  CallCounts counts;
  std::map<const PlannedProbe*, CallRate> rates;
  // Counts the entries, and returns those to be counted again.
  const auto count_together = [&](const std::vector<const PlannedProbe*>& entries)
      -> Result<std::vector<const PlannedProbe*>> {
    auto count = counting.count(entries);
    if (!count) {
      return std::unexpected(count.error());
    }
    const double cpus = count->could_run.of_program() / count->could_run.whole_ns();
    const auto together = rates_of(count->functions, count->seconds, cpus);
    const double most = std::ranges::max(together, {}, &CallRate::counted).counted;
    std::vector<const PlannedProbe*> again;
    for (std::size_t index = 0; index < entries.size(); ++index) {
      constexpr double frequent = 0.1;
      rates.insert_or_assign(entries[index], together[index]);
      if (hides_others(together) && together[index].counted < frequent * most) {
        again.push_back(entries[index]);
      }
    }
    if (counts.counters.empty()) { // the others slow the program
      counts.cpus = cpus;
      counts.turns_a_s = count->could_run.turns() / count->seconds;
    }
    counts.counters.push_back(std::move(count->counter));
    return again;
  };
  if (const auto counted = count_together(requested); !counted) {
    return std::unexpected(counted.error());
  }
  constexpr int most_counts = 4;
  for (int number = 0; number < most_counts && !others.empty(); ++number) {
    auto again = count_together(others);
    if (!again) {
      return std::unexpected(again.error());
    }
    others = std::move(*again);
  }
  for (const PlannedProbe& probe : plan.probes) {
    if (const auto rate = rates.find(&probe); rate != rates.end()) {
      counts.rates.push_back(rate->second);
    }
  }
  return counts;
}

} // namespace ptlens::record
