#include "record/perf/perf_command.hpp"

#include "perfdata/contents/records.hpp"
#include "record/machine/wait_events.hpp"
#include "record/perf/trace_settings.hpp"

#include <fmt/format.h>

namespace ptlens::record {
namespace {

void append_target(std::vector<std::string>& arguments, const Request& request) {
  if (request.pid) {
    arguments.insert(arguments.end(), {"-p", std::to_string(*request.pid)});
  } else if (request.tid) {
    arguments.insert(arguments.end(), {"-t", std::to_string(*request.tid)});
  } else if (request.cpu) {
    arguments.insert(arguments.end(), {"-C", std::to_string(*request.cpu)});
  } else if (request.all_cpus) {
    arguments.emplace_back("-a");
  } else {
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), request.program.begin(), request.program.end());
  }
}

} // namespace

std::string intel_pt_event(const Request& request, const Machine& machine) {
  std::string event = "intel_pt/";
  const auto add = [&event](std::string_view term) {
    if (!event.ends_with('/')) {
      event += ',';
    }
    event += term;
  };
  const TraceSettings settings = choose_settings(request, machine);
  if (settings.cycles) {
    add("cyc");
  }
  if (settings.mtc_period) {
    add(fmt::format("mtc_period={}", *settings.mtc_period));
  }
  if (settings.psb_period) {
    add(fmt::format("psb_period={}", *settings.psb_period));
  }
  add(settings.return_compression ? "noretcomp=0" : "noretcomp=1");
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
  if (setting.waits) {
    for (const char* const event : {perfdata::switch_event, perfdata::waking_event}) {
      arguments.insert(arguments.end(), {"-e", fmt::format("{}/call-graph=dwarf,stack-size={}/",
                                                           event, wait_stack_bytes)});
    }
  }
  if (request.tid) {
    // One buffer follows the thread over all CPUs. A process has one buffer per CPU, because only
    // then are the threads that it starts later traced too.
    arguments.emplace_back("--per-thread");
  }
  if (request.snapshot) {
    // =e takes one at the end as well.
    arguments.emplace_back(request.slower_than_ns ? "--snapshot" : "--snapshot=e");
  }
  if (setting.copy_kernel) {
    arguments.emplace_back("--kcore");
  }
  const BufferSizes buffers = choose_buffers(request, machine, true);
  arguments.insert(arguments.end(),
                   {"-m", fmt::format("{},{}", buffers.data_pages, buffers.aux_pages),
                    "--switch-events", "-N", "--control", setting.control, "-o",
                    setting.data_file});
  append_target(arguments, request);
  return arguments;
}

} // namespace ptlens::record
