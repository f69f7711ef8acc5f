// Records calls of functions that measure their own duration, and subtracts that duration. Medians
// exclude context switches and interrupts. The costs of hits are compared within a turn of the
// calls, and are given for the turn of median cost.
#include "record/probes/probe_cost.hpp"

#include "base/quantile.hpp"
#include "perfdata/recording.hpp"
#include "record/perf/perf_command.hpp"
#include "record/perf/session.hpp"
#include "record/probes/probe_events.hpp"
#include "record/probes/probe_group.hpp"
#include "record/probes/probe_sample.hpp"
#include "record/probes/spin_caller.hpp"
#include "record/processes/process_stat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace ptlens::record {
namespace {

namespace fs = std::filesystem;

// The cost of a hit changes by up to this share, as measured on virtual machines.
constexpr double drift = 0.5;

// The times of the hits of one function, ns.
struct Hits {
  std::vector<std::uint64_t> entries;
  std::vector<std::uint64_t> after_entries;
  std::vector<std::uint64_t> exits;
  std::vector<std::uint64_t> after_exits;
};

// One value per turn, ns.
struct Turns {
  std::vector<double> between;      // from the entry's hit to its second hit
  std::vector<double> exit_between; // from the exit's hit to its second hit
  std::vector<double> latencies;    // from the entry to the exit, without the time in the function
  std::vector<double> calls;        // from entry to entry, without the time in the function
  std::vector<double> range_90;     // of the latencies, from the 5th to the 95th percentile
};

Turns in_turns(const Hits& hits, std::span<const std::uint64_t> ticks, double ticks_a_ns) {
  Turns turns;
  for (std::size_t turn = 0; turn < spin_turns; ++turn) {
    std::vector<double> between;
    std::vector<double> exit_between;
    std::vector<double> latencies;
    std::vector<double> calls;
    const std::size_t begin = turn * spin_calls_a_turn;
    for (std::size_t call = begin; call < begin + spin_calls_a_turn; ++call) {
      const double inside = static_cast<double>(ticks[call]) / ticks_a_ns;
      const std::uint64_t entered = hits.entries[call];
      const std::uint64_t began = hits.after_entries.empty() ? entered : hits.after_entries[call];
      between.push_back(static_cast<double>(began - entered));
      const std::uint64_t left =
          hits.after_exits.empty() ? hits.exits[call] : hits.after_exits[call];
      exit_between.push_back(static_cast<double>(left - hits.exits[call]));
      latencies.push_back(static_cast<double>(hits.exits[call] - began) - inside);
      if (call + 1 < begin + spin_calls_a_turn) {
        calls.push_back(static_cast<double>(hits.entries[call + 1] - entered) - inside);
      }
    }
    turns.between.push_back(median(between));
    turns.exit_between.push_back(median(exit_between));
    turns.range_90.push_back(quantile(latencies, 0.95) - quantile(latencies, 0.05));
    turns.latencies.push_back(median(latencies));
    turns.calls.push_back(median(calls));
  }
  return turns;
}

template <class Of>
double median_turn(const Of& of) {
  std::vector<double> values;
  values.reserve(spin_turns);
  for (std::size_t turn = 0; turn < spin_turns; ++turn) {
    values.push_back(of(turn));
  }
  return median(values);
}

class Reading {
public:
  Reading(const std::array<Turns, spin_function_count>& turns) : turns_(turns) {
    std::vector<double> between = turns_[clock].between;
    reference_ns_ = median(between);
  }

  [[nodiscard]] ProbeCost cost() const {
    ProbeCost cost;
    cost.calls = spin_function_count * spin_calls;
    // Every exit is a ret, which the kernel steps over: it costs half of a call whose entry it
    // steps over too.
    const double exit_ns = at_reference(turns_[2].calls) / 2;
    cost.emulated = hit_cost(turns_[0], exit_ns);
    cost.stepped = hit_cost(turns_[2], exit_ns);
    cost.timed_emulated = timed(turns_[1], exit_ns, true);
    cost.timed_stepped = timed(turns_[3], exit_ns, false);
    return cost;
  }

private:
  static constexpr std::size_t clock = 1; // the function whose hits give the cost of a turn

  // Returns the value in the turn of median cost.
  [[nodiscard]] double at_reference(const std::vector<double>& of_turns) const {
    return reference_ns_ * median_turn([&](std::size_t turn) {
             return of_turns[turn] / turns_[clock].between[turn];
           });
  }

  [[nodiscard]] HitCost hit_cost(const Turns& turns, double exit_ns) const {
    HitCost cost{.latency_ns = at_reference(turns.latencies),
                 .hit_ns = std::max(0.0, at_reference(turns.calls) - exit_ns)};
    std::vector<double> range_90 = turns.range_90;
    cost.uncertainty_ns = std::max(median(range_90), cost.latency_ns * drift);
    return cost;
  }

  [[nodiscard]] TimedHitCost timed(const Turns& turns, double exit_ns, bool emulated) const {
    TimedHitCost cost{hit_cost(turns, exit_ns)};
    std::vector<double> between = turns.between;
    cost.between_ns = median(between);
    std::vector<double> exit_between = turns.exit_between;
    cost.exit_between_ns = median(exit_between);
    cost.hit_ns = std::max(0.0, cost.hit_ns - cost.exit_between_ns);
    cost.latency_ns = median_turn([&](std::size_t turn) {
      const double between_hits = turns.between[turn];
      const double exit_hits = turns.exit_between[turn];
      return emulated ? turns.latencies[turn] / cost.growth(between_hits, exit_hits)
                      : turns.latencies[turn] - cost.increase(between_hits, exit_hits);
    });
    std::vector<double> off;
    off.reserve(spin_turns);
    for (std::size_t turn = 0; turn < spin_turns; ++turn) {
      off.push_back(
          std::abs(turns.latencies[turn] -
                   cost.latency_at(turns.between[turn], turns.exit_between[turn], emulated)));
    }
    cost.residual_ns = quantile(off, 0.9);
    return cost;
  }

  const std::array<Turns, spin_function_count>& turns_;
  double reference_ns_ = 0;
};

Result<ProbeCost> read_cost(const std::string& data_file, const Spent& spent) {
  const auto recording = perfdata::Recording::open(data_file);
  if (!recording) {
    return std::unexpected(recording.error());
  }
  const auto functions = spin_functions();
  std::array<Hits, spin_function_count> hits;
  for (const perfdata::Sample& sample : recording->samples()) {
    const auto ip = instruction_pointer(sample.raw);
    for (std::size_t index = 0; index < functions.size(); ++index) {
      const SpinFunction& function = functions[index];
      Hits& of = hits[index];
      if (ip == function.exit) {
        (of.exits.size() < of.entries.size() ? of.exits : of.after_exits).push_back(sample.time_ns);
      } else if (function.timed && ip == function.after_entry &&
                 of.after_entries.size() < of.entries.size()) {
        of.after_entries.push_back(sample.time_ns);
      } else if (ip == function.entry) {
        of.entries.push_back(sample.time_ns);
      }
    }
  }
  std::array<Turns, spin_function_count> turns;
  for (std::size_t index = 0; index < functions.size(); ++index) {
    const Hits& of = hits[index];
    const std::size_t second_exits = functions[index].timed ? spin_calls : 0;
    if (of.entries.size() != spin_calls || of.exits.size() != spin_calls ||
        of.after_exits.size() != second_exits ||
        (functions[index].timed && of.after_entries.size() != spin_calls)) {
      return std::unexpected(
          Error{.message = fmt::format("only {} of {} calibration calls were recorded",
                                       of.exits.size(), spin_calls)});
    }
    turns[index] = in_turns(of, spent.ticks[index], spent.ticks_a_ns);
  }
  return Reading(turns).cost();
}

Result<void> set_probes(ProbeGroup& group) {
  const auto add = [&group](const char* event, std::uint64_t address,
                            const char* arguments) -> Result<void> {
    const auto offset = own_file_offset(address);
    if (!offset) {
      return std::unexpected(Error{.message = "the code of ptlens is not mapped from a file"});
    }
    return group.add(event, "/proc/self/exe", *offset, arguments);
  };
  for (const SpinFunction& spin : spin_functions()) {
    auto added = add("return", spin.exit, exit_arguments);
    if (added && spin.timed) {
      added = add("after_exit", spin.exit, exit_arguments);
    }
    if (added && spin.timed) {
      added = add("after_entry", spin.after_entry, exit_arguments);
    }
    if (added) {
      added = add("entry", spin.entry, entry_arguments);
    }
    if (!added) {
      return added;
    }
  }
  return {};
}

Result<ProbeCost> record_caller(const Machine& machine, const std::string& perf,
                                const std::string& data_file) {
  auto group = ProbeGroup::make(machine.tracefs);
  if (!group) {
    return std::unexpected(group.error());
  }
  if (auto set = set_probes(*group); !set) {
    return std::unexpected(set.error());
  }
  auto control = PerfControl::make();
  if (!control) {
    return std::unexpected(control.error());
  }
  const auto caller = SpinCaller::start();
  if (!caller) {
    return std::unexpected(caller.error());
  }
  Request request;
  request.pid = caller->pid();
  const auto stat = process_stat(caller->pid());
  request.start_time = stat ? stat->start_time : 0;
  std::vector<ProbeEvent> events; // in the order of ProbeEvents
  for (const std::string_view name : {"after_exit", "return", "after_entry", "entry"}) {
    events.push_back({.name = fmt::format("{}/{}", group->name(), name)});
  }
  const std::vector<std::string> command = uprobe_command(
      request, machine,
      PerfSetting{.perf = perf, .data_file = data_file, .control = control->argument()}, events);
  const Progress when_measuring([&caller, begun = false](const ProgressReport&) mutable {
    if (!std::exchange(begun, true)) {
      caller->go();
    }
  });
  const auto end = run_session(session_of(request, command), std::move(*control), when_measuring);
  if (!end) {
    return std::unexpected(end.error());
  }
  return read_cost(data_file, caller->spent());
}

} // namespace

Result<ProbeCost> measure_probe_cost(const Machine& machine, const std::string& perf,
                                     const std::string& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  auto cost = record_caller(machine, perf, folder + "/perf.data");
  fs::remove_all(folder, failed);
  return cost;
}

} // namespace ptlens::record
