// The argument vector of `perf record`.
#include "record/perf_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace ptlens::record {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

std::uint64_t power_of_two_pages(std::uint64_t bytes, const Machine& machine) {
  return std::bit_floor(std::max<std::uint64_t>(bytes / machine.page_size, 1));
}

void append_target(std::vector<std::string>& arguments, const Request& request) {
  if (request.pid) {
    arguments.insert(arguments.end(), {"-p", std::to_string(*request.pid)});
  } else if (request.tid) {
    arguments.insert(arguments.end(), {"-t", std::to_string(*request.tid)});
  } else if (request.cpu) {
    arguments.insert(arguments.end(), {"-C", std::to_string(*request.cpu)});
  } else {
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), request.program.begin(), request.program.end());
  }
}

} // namespace

std::uint64_t data_pages(const Machine& machine) {
  if (!machine.rights.root && !machine.rights.ipc_lock) {
    // perf's own default without rights: half of mlock_kb is left for the trace.
    return power_of_two_pages(machine.mlock_kb * kib / 2, machine);
  }
  const std::uint64_t all = std::min(256 * mib, std::max(machine.memory / 16, mib));
  return power_of_two_pages(std::clamp(all / machine.cpus, mib, 16 * mib), machine);
}

std::uint64_t aux_pages(const Machine& machine) {
  if (!machine.rights.root && !machine.rights.ipc_lock) {
    const std::uint64_t limit = machine.mlock_kb * kib;
    const std::uint64_t data = (data_pages(machine) + 1) * machine.page_size;
    return power_of_two_pages(limit > data ? limit - data : machine.page_size, machine);
  }
  const std::uint64_t all = std::max(machine.memory / 8, 4 * mib);
  return power_of_two_pages(std::clamp(all / machine.cpus, 4 * mib, 64 * mib), machine);
}

std::vector<std::string> uprobe_command(const Request& request, const Machine& machine,
                                        const PerfSetting& setting,
                                        const std::vector<ProbeEvent>& events) {
  std::vector<std::string> arguments = {setting.perf, "record"};
  for (const ProbeEvent& event : events) {
    std::string name = event.name;
    std::ranges::replace(name, '/', ':');
    arguments.insert(arguments.end(), {"-e", name});
    if (!event.filter.empty()) {
      arguments.insert(arguments.end(), {"--filter", event.filter});
    }
  }
  // -c 1: every hit. -N --buildid-all: build-ids of what was mapped, without reading the samples
  // once more and without copying binaries to ~/.debug.
  arguments.insert(arguments.end(), {"-c", "1", "-R", "--switch-events", "-N", "--buildid-all",
                                     "-m", std::to_string(data_pages(machine)), "--control",
                                     setting.control, "-o", setting.data_file});
  append_target(arguments, request);
  return arguments;
}

std::string intel_pt_event(const Request& request, const Machine& machine) {
  std::string event = "intel_pt/";
  const auto add = [&event](std::string_view term) {
    if (!event.ends_with('/')) {
      event += ',';
    }
    event += term;
  };
  constexpr unsigned preferred_period = 3; // every 8 ticks of the crystal clock
  if (!machine.intel_pt || machine.intel_pt->cycle_packets) {
    add("cyc");
  }
  if (!machine.intel_pt) {
    add(fmt::format("mtc_period={}", preferred_period));
  } else if (machine.intel_pt->mini_time_counter && machine.intel_pt->mtc_periods != 0) {
    const std::uint32_t periods = machine.intel_pt->mtc_periods;
    const unsigned period = (periods >> preferred_period & 1) != 0
                                ? preferred_period
                                : static_cast<unsigned>(std::countr_zero(periods));
    add(fmt::format("mtc_period={}", period));
  }
  // Without return compression each return is a packet with a time of its own: better latencies of
  // one function, more data. Where no function is asked about, the trace is kept small.
  const bool function = !request.function.empty() || request.address;
  add(function ? "noretcomp=1" : "noretcomp=0");
  event += request.kernel ? "/" : "/u";
  return event;
}

std::vector<std::string> intel_pt_command(const Request& request, const Machine& machine,
                                          const PerfSetting& setting,
                                          const std::string& address_filter) {
  std::vector<std::string> arguments = {setting.perf, "record", "-e",
                                        intel_pt_event(request, machine)};
  if (!address_filter.empty()) {
    arguments.insert(arguments.end(), {"--filter", address_filter});
  }
  if (request.tid) {
    // One buffer follows the thread over all CPUs. For a process the buffers are per CPU: only so
    // are the threads that it starts later traced too.
    arguments.emplace_back("--per-thread");
  }
  if (request.snapshot) {
    arguments.emplace_back("--snapshot=e"); // one snapshot, taken at the end
  }
  if (setting.keep_kernel) {
    arguments.emplace_back("--kcore");
  }
  arguments.insert(arguments.end(),
                   {"-m", fmt::format("{},{}", data_pages(machine), aux_pages(machine)),
                    "--switch-events", "-N", "--control", setting.control, "-o",
                    setting.data_file});
  append_target(arguments, request);
  return arguments;
}

} // namespace ptlens::record
