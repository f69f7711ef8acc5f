// Records calls of functions that measure their own duration, and subtracts that duration. Medians
// exclude context switches and interrupts. The functions are called in turns, because the cost of a
// hit changes with what else the machine does.
#include "record/probes/cost/probe_cost.hpp"

#include "base/quantile.hpp"
#include "record/probes/cost/spin_caller.hpp"
#include "record/probes/cost/wait_cost.hpp"
#include "record/probes/events/probe_events.hpp"
#include "record/probes/events/probe_group.hpp"
#include "record/probes/events/probe_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

namespace ptlens::record {
namespace {

// A hit takes least time when it follows another one and nothing else uses the processor's core.
// Another virtual machine on the same core slows it by half, for seconds or for less: the quickest
// of some hundred hits is within these factors of the least time. After the thread slept, or the
// CPU ran something else, the caches of code, data and addresses contain other things, and the
// entry to the kernel takes up to so many times as long. Seen on virtual machines with AMD and
// Intel processors. Stepping over a copy of an instruction usually varies less, but not everywhere:
// on virtual machines with AMD processors (family 25, models 1 and 17), from one run of a program
// to the next.
constexpr double least_factor = 0.85;
constexpr double most_factor = 2.6;
constexpr double most_step_factor = 3;
constexpr double usual_step_factor = 1.6;
// After the program ran for long, and other virtual machines used the shared cache meanwhile.
constexpr double most_late_factor = 5;

// The times of the hits of one function, ns.
struct SpinHits {
  std::vector<std::uint64_t> entries;
  std::vector<std::uint64_t> exits;
};

// One value per turn, ns.
struct Turns {
  std::vector<double> least; // of quick calls: from the entry to the exit, without the time between
  std::vector<double> slow;  // of the others
  std::vector<double> calls; // from entry to entry of quick calls, without the time in the function
};

Turns in_turns(const SpinHits& hits, std::span<const std::uint64_t> ticks, double ticks_a_ns) {
  Turns turns;
  for (std::size_t turn = 0; turn < spin_turns; ++turn) {
    std::vector<double> quick;
    std::vector<double> slow;
    std::vector<double> calls;
    const std::size_t begin = turn * spin_calls_a_turn;
    for (std::size_t call = begin; call < begin + spin_calls_a_turn; ++call) {
      const double inside = static_cast<double>(ticks[call]) / ticks_a_ns;
      const bool is_quick = call - begin < spin_quick_calls;
      (is_quick ? quick : slow)
          .push_back(static_cast<double>(hits.exits[call] - hits.entries[call]) - inside);
      if (call + 1 < begin + spin_quick_calls) {
        calls.push_back(static_cast<double>(hits.entries[call + 1] - hits.entries[call]) - inside);
      }
    }
    turns.least.push_back(std::ranges::min(quick));
    turns.slow.push_back(median(slow));
    turns.calls.push_back(median(calls));
  }
  return turns;
}

double middle(std::vector<double> values) {
  return median(values);
}

// Returns the value that a tenth of all is below: the least one may be an error.
double quickest(std::vector<double> values) {
  const auto tenth = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 10);
  std::ranges::nth_element(values, tenth);
  return *tenth;
}

// `trap_ns`: the least latency of an emulated entry. `frequent_ns`: the time that a hit takes from
// the thread. A recording may be made under any load, whatever the load of the machine is now, so
// that the cost is the middle of the range.
HitCost cost_under_any_load(const Turns& turns, double trap_ns, double frequent_ns) {
  const double quick_ns = quickest(turns.least);
  const double step_ns = std::max(0.0, quick_ns - trap_ns);
  const double least = least_factor * quick_ns;
  const auto most_with = [&](double step_factor) {
    return std::max(most_factor * (quick_ns - step_ns) + step_factor * step_ns, middle(turns.slow));
  };
  const double most = most_with(most_step_factor);
  const double usual_ns = (least + most_with(usual_step_factor)) / 2;
  return {.latency_ns = (least + most) / 2,
          .hit_ns = quick_ns > 0 ? frequent_ns * usual_ns / quick_ns : frequent_ns,
          .uncertainty_ns = (most - least) / 2,
          .late_ns = std::max(0.0, (most_late_factor - most_factor) * (quick_ns - step_ns) / 2),
          .frequent_ns = frequent_ns};
}

ProbeCost cost_of(const std::array<Turns, spin_function_count>& turns) {
  const auto& [emulated, stepped, returned] = turns;
  // The exits of the first two are a ret, which the kernel steps over like the entry of the second.
  const double stepped_ns = middle(stepped.calls) / 2;
  const double emulated_ns = std::max(0.0, middle(emulated.calls) - stepped_ns);
  ProbeCost cost;
  const double trap_ns = quickest(emulated.least);
  cost.emulated = cost_under_any_load(emulated, trap_ns, emulated_ns);
  cost.stepped = cost_under_any_load(stepped, trap_ns, stepped_ns);
  cost.returned =
      cost_under_any_load(returned, trap_ns, std::max(0.0, middle(returned.calls) - emulated_ns));
  cost.returned.latency_ns -= cost.emulated.latency_ns;
  return cost;
}

Result<std::vector<ProbeEvent>> set_probes(ProbeGroup& group) {
  for (const SpinFunction& spin : spin_functions()) {
    const auto entry = own_file_offset(spin.entry);
    const auto exit = own_file_offset(spin.exit);
    if (!entry || !exit) {
      return std::unexpected(Error{.message = "the code of ptlens is not mapped from a file"});
    }
    auto added = spin.returned ? group.add_return("returned", "/proc/self/exe", *entry)
                               : group.add("return", "/proc/self/exe", *exit, exit_arguments);
    added = added ? group.add("entry", "/proc/self/exe", *entry, entry_arguments) : added;
    if (!added) {
      return std::unexpected(added.error());
    }
  }
  std::vector<ProbeEvent> events;
  for (const std::string_view name : {"returned", "return", "entry"}) {
    const std::string event(name);
    const auto id =
        name == "returned" ? group.return_event_id(event) : group.event_id(event, {"sp"});
    if (!id) {
      return std::unexpected(id.error());
    }
    events.push_back({.name = fmt::format("{}/{}", group.name(), name), .filter = {}, .id = *id});
  }
  return events;
}

// Takes the hits until the child has ended.
Result<std::array<SpinHits, spin_function_count>> read_hits(SpinCaller& caller, ProbeReader& reader,
                                                            std::uint64_t entry_event) {
  constexpr auto longest = std::chrono::seconds(20);
  constexpr std::chrono::milliseconds pause(3); // more than ProbeReader waits for late hits
  const auto functions = spin_functions();
  std::array<SpinHits, spin_function_count> hits;
  const auto begin = std::chrono::steady_clock::now();
  caller.go();
  for (bool ended = false; !ended;) {
    ended = caller.ended();
    if (std::chrono::steady_clock::now() - begin > longest) {
      return std::unexpected(Error{.message = "the calibration did not end in time"});
    }
    std::this_thread::sleep_for(pause);
    for (const LiveHit& hit : reader.read()) {
      for (std::size_t index = 0; index < functions.size(); ++index) {
        if (hit.event_id == entry_event && hit.ip == functions[index].entry) {
          hits[index].entries.push_back(hit.time_ns);
        } else if (hit.event_id != entry_event && hit.ip == functions[index].exit) {
          hits[index].exits.push_back(hit.time_ns);
        }
      }
    }
  }
  return hits;
}

Result<ProbeCost> measure_once(const Machine& machine) {
  auto group = ProbeGroup::make(machine.tracefs);
  if (!group) {
    return std::unexpected(group.error());
  }
  const auto events = set_probes(*group);
  if (!events) {
    return std::unexpected(events.error());
  }
  auto caller = SpinCaller::start();
  if (!caller) {
    return std::unexpected(caller.error());
  }
  auto reader = ProbeReader::open(*events, caller->pid());
  if (!reader) {
    return std::unexpected(reader.error());
  }
  const auto hits = read_hits(*caller, *reader, events->back().id);
  if (!hits) {
    return std::unexpected(hits.error());
  }
  std::array<Turns, spin_function_count> turns;
  for (std::size_t index = 0; index < turns.size(); ++index) {
    const SpinHits& of = (*hits)[index];
    if (of.entries.size() != spin_calls || of.exits.size() != spin_calls) {
      return std::unexpected(
          Error{.message = fmt::format("only {} of {} calibration calls were recorded",
                                       std::min(of.entries.size(), of.exits.size()), spin_calls)});
    }
    turns[index] = in_turns(of, caller->spent().ticks[index], caller->spent().ticks_a_ns);
  }
  return cost_of(turns);
}

} // namespace

// Costs are differences of times. What else the machine does can make one vanish: none is 0.
Result<ProbeCost> measure_probe_cost(const Machine& machine) {
  constexpr int attempts = 3;
  Result<ProbeCost> cost = measure_once(machine);
  for (int attempt = 1; attempt < attempts && cost; ++attempt) {
    if (cost->emulated.hit_ns > 0 && cost->stepped.hit_ns > 0 && cost->returned.hit_ns > 0) {
      break;
    }
    cost = measure_once(machine);
  }
  if (cost) {
    cost->wait_ns = measure_wait_cost(machine).value_or(0);
  }
  return cost;
}

} // namespace ptlens::record
