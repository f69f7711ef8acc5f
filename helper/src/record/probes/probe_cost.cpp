// Records calls of functions that measure their own duration, and subtracts that duration. Medians
// exclude context switches and interrupts. The functions are called in turns, because the cost of a
// hit changes with what else the machine does.
#include "record/probes/probe_cost.hpp"

#include "base/quantile.hpp"
#include "record/probes/probe_events.hpp"
#include "record/probes/probe_group.hpp"
#include "record/probes/probe_reader.hpp"
#include "record/probes/spin_caller.hpp"

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

// The cost of a hit in another process, or at another time, differs by up to this share, as
// measured on loaded and unloaded virtual machines.
constexpr double cost_drift = 0.5;

// The times of the hits of one function, ns.
struct SpinHits {
  std::vector<std::uint64_t> entries;
  std::vector<std::uint64_t> exits;
};

// One value per turn, ns.
struct Turns {
  std::vector<double> latencies; // from the entry to the exit, without the time in the function
  std::vector<double> calls;     // from entry to entry, without the time in the function
};

Turns in_turns(const SpinHits& hits, std::span<const std::uint64_t> ticks, double ticks_a_ns) {
  Turns turns;
  for (std::size_t turn = 0; turn < spin_turns; ++turn) {
    std::vector<double> latencies;
    std::vector<double> calls;
    const std::size_t begin = turn * spin_calls_a_turn;
    for (std::size_t call = begin; call < begin + spin_calls_a_turn; ++call) {
      const double inside = static_cast<double>(ticks[call]) / ticks_a_ns;
      latencies.push_back(static_cast<double>(hits.exits[call] - hits.entries[call]) - inside);
      if (call + 1 < begin + spin_calls_a_turn) {
        calls.push_back(static_cast<double>(hits.entries[call + 1] - hits.entries[call]) - inside);
      }
    }
    turns.latencies.push_back(median(latencies));
    turns.calls.push_back(median(calls));
  }
  return turns;
}

// Half of the range of nine tenths of the values, or the usual cost_drift where that is more.
double uncertainty_of(std::vector<double> values) {
  const double range = quantile(values, 0.95) - quantile(values, 0.05);
  return std::max(range / 2, cost_drift * median(values));
}

ProbeCost cost_of(std::array<Turns, spin_function_count> turns) {
  const auto& [emulated, stepped, returned] = turns;
  const auto middle = [](std::vector<double> values) { return median(values); };
  // The exits of the first two are a ret, which the kernel steps over like the entry of the second.
  const double stepped_ns = middle(stepped.calls) / 2;
  const double emulated_ns = std::max(0.0, middle(emulated.calls) - stepped_ns);
  ProbeCost cost;
  cost.emulated = {.latency_ns = middle(emulated.latencies),
                   .hit_ns = emulated_ns,
                   .uncertainty_ns = uncertainty_of(emulated.latencies)};
  cost.stepped = {.latency_ns = middle(stepped.latencies),
                  .hit_ns = stepped_ns,
                  .uncertainty_ns = uncertainty_of(stepped.latencies)};
  cost.returned = {.latency_ns = middle(returned.latencies) - cost.emulated.latency_ns,
                   .hit_ns = std::max(0.0, middle(returned.calls) - emulated_ns),
                   .uncertainty_ns = uncertainty_of(returned.latencies)};
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

} // namespace

Result<ProbeCost> measure_probe_cost(const Machine& machine) {
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
  return cost_of(std::move(turns));
}

} // namespace ptlens::record
