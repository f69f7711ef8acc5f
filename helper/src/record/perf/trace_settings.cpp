#include "record/perf/trace_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace ptlens::record {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

constexpr double short_s = 0.2;
constexpr double ordinary_s = 10;
constexpr double long_s = 60;

// Returns the supported value nearest to the wanted one, or nothing when none is supported.
std::optional<unsigned> nearest(std::uint32_t supported, unsigned wanted) {
  std::optional<unsigned> best;
  for (unsigned value = 0; value < 32; ++value) {
    const auto distance = [wanted](unsigned each) {
      return each > wanted ? each - wanted : wanted - each;
    };
    if (((supported >> value) & 1) != 0 && (!best || distance(value) < distance(*best))) {
      best = value;
    }
  }
  return best;
}

struct Wanted {
  bool cycles = true;
  unsigned mtc_period = 3;
  std::optional<unsigned> psb_period = {};
  bool each_return = true;
  Note reason;
};

Wanted wanted_for(const Request& request) {
  if (request.snapshot || (request.duration_s > 0 && request.duration_s <= short_s)) {
    return {.psb_period = 0,
            .reason = make_note("finest_times_short",
                                "times have the best precision of this processor, and decoding can "
                                "start every 2 KiB, because little data is stored")};
  }
  if (request.duration_s <= ordinary_s) {
    return {.reason = make_note("finest_times", "times have the best precision of this processor")};
  }
  if (request.duration_s <= long_s) {
    return {.mtc_period = 6,
            .psb_period = 4,
            .each_return = false,
            .reason = make_note(
                "reduced_times",
                "the recording is longer than 10 s. To save data, returns share packets, and there "
                "are an eighth as many MTC packets")};
  }
  return {
      .cycles = false,
      .psb_period = 5,
      .each_return = false,
      .reason = make_note(
          "no_cycle_packets_long",
          "the recording is longer than a minute. To save data, it has no cycle packets, so "
          "times are precise to a few hundred nanoseconds. Record for a shorter time to get more "
          "precise times")};
}

std::uint64_t power_of_two_pages(std::uint64_t bytes, const Machine& machine) {
  return std::bit_floor(std::max<std::uint64_t>(bytes / machine.page_size, 1));
}

} // namespace

TraceSettings choose_settings(const Request& request, const Machine& machine) {
  const Wanted wanted = wanted_for(request);
  // One packet per return improves the latencies of the requested function.
  const bool function = request.names_function();
  TraceSettings settings{.cycles = wanted.cycles,
                         .mtc_period = wanted.mtc_period,
                         .psb_period = wanted.psb_period,
                         .return_compression = !(function && wanted.each_return),
                         .reason = wanted.reason};
  if (machine.intel_pt) {
    const IntelPtCapabilities& has = *machine.intel_pt;
    settings.cycles = wanted.cycles && has.cycle_packets;
    settings.mtc_period =
        has.mini_time_counter ? nearest(has.mtc_periods, wanted.mtc_period) : std::nullopt;
    settings.psb_period =
        wanted.psb_period ? nearest(has.psb_periods, *wanted.psb_period) : std::nullopt;
    if (wanted.cycles && !has.cycle_packets) {
      settings.reason = make_note("no_cycle_packets",
                                  "this processor has no cycle packets, so times are precise to a "
                                  "few hundred nanoseconds");
    }
  }
  return settings;
}

BufferSizes choose_buffers(const Request& request, const Machine& machine, bool trace) {
  BufferSizes sizes;
  sizes.count = request.tid || request.cpu ? 1 : machine.cpus;
  if (!machine.rights.root && !machine.rights.ipc_lock) {
    const std::uint64_t all = machine.mlock_kb * kib * machine.cpus + machine.memlock;
    const std::uint64_t each = all / sizes.count;
    sizes.data_pages = power_of_two_pages(
        trace ? std::min(each / 2, mib) : each - std::min(each, machine.page_size), machine);
    const std::uint64_t data = (sizes.data_pages + 1) * machine.page_size;
    sizes.aux_pages = power_of_two_pages(each > data ? each - data : machine.page_size, machine);
    return sizes;
  }
  const std::uint64_t data = std::min(256 * mib, std::max(machine.memory / 16, mib));
  sizes.data_pages = power_of_two_pages(std::clamp(data / machine.cpus, mib, 16 * mib), machine);
  const std::uint64_t aux = std::max(machine.memory / 8, 4 * mib);
  sizes.aux_pages = power_of_two_pages(std::clamp(aux / machine.cpus, 4 * mib, 64 * mib), machine);
  return sizes;
}

} // namespace ptlens::record
